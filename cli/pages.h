/* The page of a result that is still in memory. */
#ifndef CLI_PAGES_H
#define CLI_PAGES_H

/* `json` as kbass_discovery_json writes it. Returns an exit code. */
int cli_report_write(const char *json, const char *path);

#endif
