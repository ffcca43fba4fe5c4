EXTRA_DIST += \
	tests/clients/.npmrc tests/clients/anthropic.mjs tests/clients/curl.sh \
	tests/clients/genai.mjs tests/clients/git.sh tests/clients/git_server.py \
	tests/clients/openai.mjs tests/clients/package-lock.json tests/clients/package.json \
	tests/clients/run.sh tests/clients/strict_tls.py tests/clients/through.mjs \
	tests/clients/undici.mjs tests/clients/upstream.mjs tests/clients/web.py

check-clients: $(bin_PROGRAMS)
	RETAPE=$(abs_builddir)/retape $(srcdir)/tests/clients/run.sh
