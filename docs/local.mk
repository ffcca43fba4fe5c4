dist_man_MANS += docs/man/retape.1
EXTRA_DIST += docs/CONFIG.md docs/retape.schema.json
