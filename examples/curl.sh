#!/usr/bin/env bash
# Streamed chat, embeddings and usage, with nothing but curl.
set -euo pipefail
url=${SLUICE_URL:-http://127.0.0.1:8787/v1}

ask() { curl -fsSN "$url/$1" -H "Authorization: Bearer $SLUICE_KEY" "${@:2}"; }

ask chat/completions -H 'Content-Type: application/json' \
  -d '{"model":"sluice/chat","stream":true,"messages":[{"role":"user","content":"Hello"}]}'

ask embeddings -H 'Content-Type: application/json' \
  -d '{"model":"sluice/embed","input":"a river","encoding_format":"base64"}'
echo

ask 'usage?group_by=model'
echo
