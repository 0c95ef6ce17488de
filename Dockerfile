# Debian 13: its C library is new enough for uWebSockets.js. Node 24: the newest LTS with uWebSockets.js binaries.
FROM node:24-trixie-slim AS build
WORKDIR /sluice
COPY package.json package-lock.json .npmrc ./
# Of ffmpeg in WebAssembly, which is used where the system's cannot be confined, the copy for `require` is not needed.
RUN npm ci --ignore-scripts && rm -rf node_modules/@ffmpeg/core/dist/umd
COPY . .
RUN npm run build && npm prune --omit=dev --ignore-scripts
# Replaces the registry's copy with the official release. Its binary must be identical to the copy's, which
# package-lock.json pins. What this platform and this Node do not load is removed.
ARG UWEBSOCKETS=https://github.com/uNetworking/uWebSockets.js/archive/refs/tags/v20.64.0.tar.gz
RUN npm install --prefix /official --no-save --no-audit --ignore-scripts "uWebSockets.js@$UWEBSOCKETS" \
  && binary="uws_linux_$(node -p 'process.arch + "_" + process.versions.modules').node" \
  && cmp "node_modules/uWebSockets.js/$binary" "/official/node_modules/uWebSockets.js/$binary" \
  && rm -rf node_modules/uWebSockets.js \
  && mv /official/node_modules/uWebSockets.js node_modules/ \
  && node bin/prune-builds.mjs

FROM node:24-trixie-slim
ARG VERSION=1.4.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Sluice" \
  org.opencontainers.image.description="Streaming-first inference gateway: one HTTP API in front of hosted models." \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="$VERSION" \
  org.opencontainers.image.revision="$REVISION" \
  org.opencontainers.image.base.name="docker.io/library/node:24-trixie-slim"
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8787 SLUICE_ADMIN_HOST=0.0.0.0 SLUICE_DATA=/data
# The distribution's ffmpeg gets its security updates; bubblewrap confines it where user namespaces are allowed, else
# setpriv of this Debian, without privileges.
RUN apt-get update && apt-get install -y --no-install-recommends ffmpeg bubblewrap && rm -rf /var/lib/apt/lists/*
WORKDIR /sluice
COPY --from=build /sluice/node_modules node_modules
COPY --from=build /sluice/dist dist
COPY package.json LICENSE sluice.example.yaml ./
COPY bin bin
# Makes `sluice` a command: docker exec gateway sluice keys list
RUN ln -s /sluice/bin/sluice.mjs /usr/local/bin/sluice && mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8787 9787
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9787/readyz').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "--max-semi-space-size=8", "--v8-pool-size=2", "--no-memory-reducer", "bin/sluice.mjs"]
CMD ["serve"]
