# Debian 13: its C library is new enough for uWebSockets.js on current Node.
FROM node:24-trixie-slim AS build
WORKDIR /sluice
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run build && npm prune --omit=dev
# The project's own release in place of the registry's copy of it; the binaries are the same.
ARG UWEBSOCKETS=v20.64.0
RUN npm install --no-save --no-audit --ignore-scripts \
  "uWebSockets.js@https://github.com/uNetworking/uWebSockets.js/archive/refs/tags/${UWEBSOCKETS}.tar.gz"

FROM node:24-trixie-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8787 SLUICE_ADMIN_HOST=0.0.0.0 SLUICE_DATA=/data
WORKDIR /sluice
COPY --from=build /sluice/node_modules node_modules
COPY --from=build /sluice/dist dist
COPY package.json LICENSE ./
COPY bin bin
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8787 9787
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9787/readyz').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "bin/sluice.mjs"]
CMD ["serve"]
