EXTRA_DIST += \
	examples/README.md \
	examples/agent.py \
	examples/ci/ci.sh \
	examples/ci/github-actions.yml \
	examples/demo.sh \
	examples/llm_origin.py
