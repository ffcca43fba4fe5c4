EXTRA_DIST += \
	examples/README.md \
	examples/agent.py \
	examples/demo.sh \
	examples/llm_origin.py
