# Everything but main is a library, so that unit tests and the proxy can link it.
noinst_LIBRARIES += libbundler.a
libbundler_a_SOURCES = \
	bundler/answer.c bundler/answer.h \
	bundler/contents.c bundler/contents.h \
	bundler/create.c bundler/create.h \
	bundler/create_verb.c \
	bundler/describe.c bundler/describe.h \
	bundler/extract.c \
	bundler/facts.c bundler/facts.h \
	bundler/findings.c bundler/findings.h \
	bundler/git.c bundler/git.h \
	bundler/inputs.c bundler/inputs.h \
	bundler/inspect.c bundler/inspect.h \
	bundler/inspect_json.c \
	bundler/inspect_text.c \
	bundler/manifest.c bundler/manifest.h \
	bundler/manifest_read.c \
	bundler/manifest_write.c \
	bundler/mined.c bundler/mined.h \
	bundler/newest.c bundler/newest.h \
	bundler/outfile.c bundler/outfile.h \
	bundler/outputs.c bundler/outputs.h \
	bundler/progress.c bundler/progress.h \
	bundler/scan.c bundler/scan.h \
	bundler/scan_assay.c bundler/scan_assay.h \
	bundler/scan_rules.c bundler/scan_rules.h \
	bundler/scan_unwrap.c bundler/scan_unwrap.h \
	bundler/source.c bundler/source.h \
	bundler/summary.c \
	bundler/survey.c bundler/survey.h \
	bundler/toolcalls.c bundler/toolcalls.h \
	bundler/unpack.c bundler/unpack.h \
	bundler/verbs.h \
	bundler/verify.c bundler/verify.h \
	bundler/verify_verb.c

bin_PROGRAMS += retape-bundle
retape_bundle_SOURCES = bundler/main.c
