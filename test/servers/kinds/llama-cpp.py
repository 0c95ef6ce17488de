"""Starts llama.cpp's server with the settings of docs/engines.md: model, alias, port, key, tokens of one slot."""
import sys
import threading

import xllamacpp

model, alias, port, key, window = sys.argv[1:]
slots = 4
settings = xllamacpp.CommonParams()
settings.model.path = model
settings.model_alias = {alias}
settings.hostnames = ["127.0.0.1"]
settings.port = int(port)
settings.api_keys = [key]
settings.n_ctx = int(window) * slots
settings.n_parallel = slots
settings.use_jinja = True
settings.endpoint_slots = True
# The toy model gains nothing from a second thread, and the other processes of the suite need one.
settings.cpuparams.n_threads = 1
settings.cpuparams_batch.n_threads = 1
if alias == "search":
    settings.embedding = True
    settings.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    settings.n_ubatch = settings.n_batch = 2048
    # Else inputs of one request are pooled over a part of their tokens.
    settings.kv_unified = True
server = xllamacpp.Server(settings)
threading.Event().wait()
