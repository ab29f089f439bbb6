#include "discover/clouds.h"

kbass_status kb_clouds_create(const kbass_data *data, const kbass_settings *settings, const kb_dictionary *dictionary,
                              kb_cloud **clouds, bool *is_one, kbass_error *error)
{
    size_t most[KB_CLOUD_AXES] = {0};
    kbass_status status = kb_cloud_create_runs(data, settings->noise, clouds, is_one, error);
    for (size_t run = 0; status == KBASS_OK && run < kbass_data_runs(data); run++) {
        kb_cloud *c = clouds[run];
        status = kb_noise_read_model(data, settings, dictionary->has_equation, c->mean, c->sd, &c->noise_model,
                                     c->known_variance, error);
        for (size_t a = 0; a < c->n_axes; a++)
            if (c->n_grid[a] > most[a]) most[a] = c->n_grid[a];
    }
    return status == KBASS_OK ? kb_dictionary_check_points(dictionary, most, error) : status;
}
