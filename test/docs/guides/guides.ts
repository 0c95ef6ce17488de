/** The guides whose snippets are run in order against a gateway, and what their readers would have at hand. */

export interface Guide {
  /** Run first: files and records that the page takes for granted. */
  readonly before?: string;
  /** Run before each snippet. */
  readonly beforeEach?: string;
  /** Placeholders of the page and what stands for them here. */
  readonly replace?: readonly (readonly [RegExp, string])[];
  /** In front of its programs in TypeScript, which begin where a reader has got to. */
  readonly imports?: string;
  /** Programs that its commands need. */
  readonly needs?: readonly string[];
}

/** A member of the JSON on standard input. */
const field = (name: string): string =>
  `node -e 'let t="";process.stdin.on("data",(d)=>t+=d).on("end",()=>console.log(JSON.parse(t).${name}))'`;
const call = 'command curl -s -H "Authorization: Bearer $SLUICE_KEY"';
const admin = 'command curl -s -H "Authorization: Bearer $SLUICE_ADMIN_TOKEN"';
const finished = (route: string, variable: string): string =>
  `for _ in $(seq 600); do [ "$(${call} "$SLUICE_URL/${route}/$${variable}" | ${field('status')})" = completed ] && break; sleep 0.2; done`;
const picture = `${call} $SLUICE_URL/images --json '{"prompt":"A boat","size":"512x512"}' | ${field('data[0].b64_json')} | base64 -d > first.png`;

const openai = "import OpenAI from 'openai';\nconst key = process.env.SLUICE_KEY;\n";

export const guides: Readonly<Record<string, Guide>> = {
  'docs/admin-api.md': {},
  'docs/audio.md': {},
  'docs/billing.md': {},
  'docs/images.md': { needs: ['jq'] },
  'docs/keys-and-budgets.md': {
    beforeEach: [
      `KEY_ID=$(${admin} $ADMIN/keys --json '{"subscription":"default","name":"placeholder"}' | ${field('id')})`,
      `BUDGET_ID=$(${admin} $ADMIN/budgets --json '{"subscription":"default","amount":"1","period":"day"}' | ${field('id')})`,
    ].join('\n'),
    replace: [
      [/<id>|key_…/g, '$KEY_ID'],
      [/bud_…/g, '$BUDGET_ID'],
    ],
  },
  'docs/limits.md': {},
  'docs/migration.md': { imports: "import { OpenRouter } from '@openrouter/sdk';\n" },
  'docs/simulator.md': {},
  'docs/vector-stores.md': {
    before: [
      "printf '# Tides\\n\\nThe moon pulls on the sea, twice a day. Spring tides come with the full moon.\\n' > tides.md",
      picture,
      'mv first.png picture.txt',
      `ID=$(${call} $SLUICE_URL/vector_store --json '{"name":"guides"}' | ${field('id')})`,
      `ITEM=$(${call} $SLUICE_URL/vector_store/$ID/files -F file=@tides.md | ${field('item_ids[0]')})`,
    ].join('\n'),
  },
  'docs/video-and-music.md': {
    before: [
      picture,
      `ID=$(${call} $SLUICE_URL/videos --json '{"model":"sluice/video","prompt":"A boat","duration":4}' | ${field('id')})`,
      `MUSIC_ID=$(${call} $SLUICE_URL/music --json '{"model":"sluice/music","prompt":"slow waltz","duration":10}' | ${field('id')})`,
      finished('videos', 'ID'),
      finished('music', 'MUSIC_ID'),
    ].join('\n'),
    replace: [[/music\/\$ID/g, 'music/$MUSIC_ID']],
    imports: openai,
  },
  'docs/webhooks.md': {},
};
