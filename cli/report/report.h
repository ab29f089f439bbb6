/* The page of a result that is still in memory. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

/* `json` as kbass_discovery_json writes it. Returns an exit code. */
int cli_report_write(const char *json, const char *path);

#endif
