/** Tests the video rules without sockets: sizes, schedules, bills, durations and times. */
import fc from 'fast-check';
import t from 'tap';
import { validate } from '../../pipelines/core/validate.ts';
import { readVideoRequest } from '../../pipelines/jobs/read-video-request.ts';
import type { Model } from '../../schemas/catalog.ts';
import type { JobRecord } from '../../schemas/jobs.ts';
import { VideoFields } from '../../schemas/videos.ts';
import { defaultCatalog } from '../../src/catalog/default-catalog.ts';
import { ApiError } from '../../src/errors.ts';
import { plainRecord, renderRecord } from '../../src/jobs/render-record.ts';
import { billedSeconds } from '../../src/video/bill.ts';
import { mediaLimits } from '../../src/video/media-limits.ts';
import { readPicture } from '../../src/video/picture.ts';
import { readSchedule, type ScheduleWish } from '../../src/video/schedule.ts';
import { validVideoSpec, videoSpec } from '../../src/video/spec.ts';
import { clipSeconds, expectedVideoMs, frameCount } from '../../src/video/timing.ts';

const model = defaultCatalog.models.find(({ id }) => id === 'sluice/video') as Model;
const spec = videoSpec(model);
const fields = { quality: 'quality', steps: 'num_inference_steps' };

const refusal = (act: () => unknown): string => {
  try {
    return `accepted: ${JSON.stringify(act())}`;
  } catch (error) {
    return error instanceof ApiError ? error.message : String(error);
  }
};

const bill = (seconds: number, wish: Partial<ScheduleWish>, resolution = '768p'): number => {
  const picture = readPicture(spec, { resolution });
  const schedule = readSchedule(spec, picture, { references: false, ...wish }, fields);
  return billedSeconds(spec, { seconds, picture, schedule });
};

t.test('accepted media', async (t) => {
  const seconds = { min: 2, max: 15 };
  t.match(mediaLimits, {
    image: {
      types: ['image/jpeg', 'image/png', 'image/webp', 'image/heic', 'image/heif'],
      maxBytes: 31_457_280,
      seconds: undefined,
    },
    video: { types: ['video/mp4', 'video/quicktime'], maxBytes: 52_428_800, seconds },
    audio: { types: ['audio/wav', 'audio/mpeg'], maxBytes: 15_728_640, seconds },
  });
});

t.test('billed seconds', async (t) => {
  const rows: [string, number, number][] = [
    ['turbo once', bill(6, {}), 6],
    ['auto and low are turbo', bill(6, { quality: 'auto' }) + bill(6, { quality: 'low' }), 12],
    ['standard three times', bill(6, { quality: 'standard' }), 18],
    ['medium is standard', bill(6, { quality: 'medium' }), 18],
    ['max five times', bill(6, { quality: 'max' }), 30],
    ['high is max', bill(6, { quality: 'high' }), 30],
    ['2K four times', bill(6, {}, '2K'), 24],
    ['turbo by number, also at 2K', bill(6, { steps: 4 }) + bill(6, { steps: 9 }, '2K'), 30],
    ['references double the steps, not the price', bill(6, { references: true }), 6],
    ['10 steps: 10/6', bill(6, { steps: 10 }), 10],
    ['10 steps of 4 s: 6.67 rounded up', bill(4, { steps: 10 }), 7],
    ['18 steps are 3 times', bill(4, { steps: 18 }), 12],
    ['19 steps bill as standard', bill(6, { steps: 19 }), 18],
    ['20 steps bill as standard', bill(6, { steps: 20 }), 18],
    ['21 steps: 21/6', bill(6, { steps: 21 }), 21],
    ['25 steps of 5 s: 20.83 rounded up', bill(5, { steps: 25 }), 21],
    ['31 steps bill as max', bill(6, { steps: 31 }), 30],
    ['40 steps bill as max', bill(6, { steps: 40 }), 30],
    ['41 steps have no tier above', bill(6, { steps: 41 }), 41],
    ['50 steps of 15 s', bill(15, { steps: 50 }), 125],
  ];
  for (const [name, got, wanted] of rows) t.equal(got, wanted, name);
});

t.test('bills are whole, never below the clip, never above the next tier', async (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 4, max: 15 }), fc.integer({ min: 4, max: 50 }), (seconds, steps) => {
      const billed = bill(seconds, { steps });
      const cap = steps <= 20 ? 3 * seconds : steps <= 40 ? 5 * seconds : Number.POSITIVE_INFINITY;
      const exact = steps < 10 ? seconds : (steps * seconds) / 6;
      return (
        Number.isInteger(billed) && billed >= seconds && billed === Math.min(cap, Math.ceil(exact - 1e-9))
      );
    }),
  );
  t.pass();
});

t.test('schedules', async (t) => {
  const wide = readPicture(spec, {});
  const large = readPicture(spec, { resolution: '2K' });
  const read = (wish: Partial<ScheduleWish>, picture = wide) =>
    refusal(() => readSchedule(spec, picture, { references: false, ...wish }, fields));
  const rows: [string, string, string][] = [
    ['none', read({}), 'accepted: {"steps":4,"tier":"turbo"}'],
    ['with references', read({ references: true }), 'accepted: {"steps":8,"tier":"turbo"}'],
    ['high', read({ quality: 'high' }), 'accepted: {"steps":40,"tier":"max"}'],
    ['4 steps', read({ steps: 4 }), 'accepted: {"steps":4,"tier":"turbo"}'],
    ['9 steps', read({ steps: 9 }), 'accepted: {"steps":9,"tier":"turbo"}'],
    ['10 steps', read({ steps: 10 }), 'accepted: {"steps":10}'],
    [
      'the count of the tier',
      read({ quality: 'medium', steps: 20 }),
      'accepted: {"steps":20,"tier":"standard"}',
    ],
    [
      'its count with references',
      read({ quality: 'auto', steps: 8, references: true }),
      'accepted: {"steps":8,"tier":"turbo"}',
    ],
    [
      'another count',
      read({ quality: 'standard', steps: 21 }),
      'num_inference_steps must be 20 with quality standard, or be left out',
    ],
    [
      'the count without references',
      read({ quality: 'turbo', steps: 4, references: true }),
      'num_inference_steps must be 8 with quality turbo, or be left out',
    ],
    ['too few', read({ steps: 3 }), 'num_inference_steps must be between 4 and 50'],
    ['too many', read({ steps: 51 }), 'num_inference_steps must be between 4 and 50'],
    [
      'no such word',
      read({ quality: 'best' }),
      'quality must be one of "turbo", "standard", "max", "auto", "low", "medium", "high"',
    ],
    [
      'a name of every object',
      read({ quality: 'constructor' }),
      'quality must be one of "turbo", "standard", "max", "auto", "low", "medium", "high"',
    ],
    ['2K turbo', read({ quality: 'turbo' }, large), 'accepted: {"steps":4,"tier":"turbo"}'],
    ['2K in nine steps', read({ steps: 9 }, large), 'accepted: {"steps":9,"tier":"turbo"}'],
    [
      '2K standard',
      read({ quality: 'standard' }, large),
      'quality must be turbo at resolution 2K: it renders on the turbo schedule only',
    ],
    [
      '2K max',
      read({ quality: 'high' }, large),
      'quality must be turbo at resolution 2K: it renders on the turbo schedule only',
    ],
    [
      '2K in ten steps',
      read({ steps: 10 }, large),
      'num_inference_steps must be below 10 at resolution 2K: it renders on the turbo schedule only',
    ],
  ];
  for (const [name, got, wanted] of rows) t.equal(got, wanted, name);
});

t.test('every size names its ratio and resolution', async (t) => {
  for (const [resolution, { sizes, enlarged = false }] of Object.entries(spec.resolutions))
    for (const [aspectRatio, size] of Object.entries(sizes)) {
      const [width, height] = size.split('x').map(Number);
      const wanted = { size, width, height, aspectRatio, resolution, enlarged };
      t.same(readPicture(spec, { size }), wanted);
      t.same(readPicture(spec, { aspect_ratio: aspectRatio, resolution }), wanted);
      t.same(readPicture(spec, { size, aspect_ratio: aspectRatio, resolution }), wanted);
    }
  t.match(readPicture(spec, {}), { size: '1344x768' });
  t.match(readPicture(spec, { aspect_ratio: '9:16' }), { size: '768x1344' });
  t.match(readPicture(spec, { resolution: '2K' }), { size: '2688x1536' });
});

t.test('durations snap to the grid, and render times are estimated', async (t) => {
  t.equal(clipSeconds(spec, 4).toFixed(1), '4.4');
  t.same(
    [4, 5, 6, 15].map((seconds) => frameCount(spec, seconds)),
    [105, 120, 150, 360],
  );
  const plain = { seconds: 6, resolution: '768p', references: false };
  t.equal(expectedVideoMs(spec, plain), 18_000);
  t.equal(expectedVideoMs(spec, { ...plain, references: true }), 30_000);
  t.equal(expectedVideoMs(spec, { ...plain, resolution: '2K' }), 54_000);
});

t.test('media that a request may carry', async (t) => {
  const mebibyte = 1024 * 1024;
  const seconds = { min: 2, max: 15 };
  t.match(mediaLimits, {
    image: {
      types: ['image/jpeg', 'image/png', 'image/webp', 'image/heic', 'image/heif'],
      maxBytes: 30 * mebibyte,
      seconds: undefined,
    },
    video: { types: ['video/mp4', 'video/quicktime'], maxBytes: 50 * mebibyte, seconds },
    audio: { types: ['audio/wav', 'audio/mpeg'], maxBytes: 15 * mebibyte, seconds },
  });
});

t.test('contradictory specs are refused', async (t) => {
  const withSpec = (change: object): Model => ({ ...model, capabilities: { video: { ...spec, ...change } } });
  t.ok(validVideoSpec(model));
  t.notOk(validVideoSpec({ ...model, capabilities: {} }));
  t.notOk(validVideoSpec(withSpec({ duration: { min: 4, max: 15, default: 20 } })));
  t.notOk(validVideoSpec(withSpec({ resolutions: {} })));
  t.notOk(validVideoSpec(withSpec({ resolutions: { '1K': { sizes: { '1:1': '101x100' } } } })), 'odd sides');
  t.notOk(
    validVideoSpec(withSpec({ steps: { min: 5, max: 50, base: 10, per_price: 6 } })),
    'turbo below the least',
  );
  t.equal(
    refusal(() => videoSpec({ ...model, capabilities: {} })),
    'The model sluice/video is not served: it has no valid capability spec',
  );
});

t.test('a request becomes a call, a record, a bill and an estimate', async (t) => {
  const check = validate(VideoFields);
  const read = (fields: object) => {
    const body = check({ model: model.id, prompt: 'A kite', seed: 3, ...fields });
    return readVideoRequest({ body, model, variant: undefined });
  };
  const call = {
    type: 'video',
    prompt: 'A kite',
    seconds: 6,
    width: 1344,
    height: 768,
    upscaled: false,
    steps: 4,
    quality: 'turbo',
    audio: true,
    seed: 3,
    startTimeSeconds: undefined,
    inputs: [],
  };
  const request = {
    prompt: 'A kite',
    duration: 6,
    size: '1344x768',
    resolution: '768p',
    aspect_ratio: '16:9',
    quality: 'turbo',
    num_inference_steps: 4,
    seed: 3,
    generate_audio: true,
    fps: 24,
  };
  const plain = {
    model,
    media: [],
    startTimeField: 'start_time_seconds',
    call,
    request,
    billedSeconds: 6,
    expectedMs: 18_000,
    progressive: false,
    callbackUrl: undefined,
  };
  t.same(read({}), plain);
  const url = 'https://media.example/a.mov';
  const references = {
    input_references: [{ type: 'video_url', video_url: { url } }],
    provider: { options: { start_time_seconds: 1.5 } },
    size: '1536x2688',
    generate_audio: false,
    callback_url: 'https://hooks.example/x',
  };
  t.same(read(references), {
    ...plain,
    media: [{ kind: 'video', use: 'reference', field: 'input_references[0].video_url.url', source: url }],
    startTimeField: 'provider.options.start_time_seconds',
    call: {
      ...call,
      ...{ width: 1536, height: 2688, upscaled: true, steps: 8, audio: false, startTimeSeconds: 1.5 },
    },
    request: {
      ...request,
      ...{ size: '1536x2688', resolution: '2K', aspect_ratio: '9:16', num_inference_steps: 8 },
      generate_audio: false,
    },
    billedSeconds: 24,
    expectedMs: 90_000,
    callbackUrl: 'https://hooks.example/x',
  });
  const frame = { type: 'image_url', image_url: { url: 'https://media.example/a.png' } };
  const framed = read({
    ...references,
    frame_images: [{ ...frame, frame_type: 'last_frame' }],
    input_reference: 'https://media.example/b.png',
  });
  t.match(
    [framed.media, framed.call],
    [[{ use: 'last_frame', source: 'https://media.example/a.png' }], { steps: 4 }],
    'frame images win over all else',
  );
  t.equal(framed.media.length, 1);
});

t.test('any input is either accepted or refused with a field', async (t) => {
  const values = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        4,
        6,
        '6',
        20,
        '20',
        'turbo',
        'max',
        '2K',
        '768p',
        '16:9',
        '1344x768',
        true,
        null,
        0,
      ),
    },
    fc.constantFrom(
      [],
      {},
      [{}],
      [null],
      { options: { quality: 'max' } },
      { options: { sluice: [] } },
      { image_url: 'x' },
    ),
    fc.constantFrom(
      [{ type: 'image_url', image_url: { url: 'x' }, frame_type: 'last_frame' }],
      [{ type: 'audio_url', audio_url: null }],
    ),
    fc.jsonValue({ maxDepth: 2 }),
  );
  const names = [...Object.keys(VideoFields.properties), 'other', 'constructor'];
  const check = validate(VideoFields);
  let taken = 0;
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom(...names), values, { maxKeys: 4, noNullPrototype: true }),
      (fields) => {
        try {
          const body = check({ prompt: 'A kite', ...structuredClone(fields), model: model.id });
          const task = readVideoRequest({ body, model, variant: undefined });
          taken++;
          return task.billedSeconds >= 4 && task.billedSeconds <= 125 && task.expectedMs >= 12_000;
        } catch (error) {
          return error instanceof ApiError && /^(invalid_request|unsupported_parameter)$/.test(error.kind);
        }
      },
    ),
    { numRuns: 2000 },
  );
  t.ok(taken > 50, `${taken} were taken`);
});

t.test('records in every state and both renderings', async (t) => {
  const url = 'https://api.example.com/v1';
  const job: JobRecord = {
    id: 'video_0123456789abcdef01234567',
    type: 'video',
    subscription: 'sub',
    key: 'key',
    request_id: 'req_1',
    model: 'sluice/video',
    status: 'pending',
    created: 1_700_000_000_999,
    started: null,
    ended: null,
    expires: null,
    expected_ms: 18_000,
    done: 0,
    call: {},
    request: { prompt: 'A kite', duration: 6, size: '1344x768', fps: 24 },
    billed_seconds: 6,
    price: { completion: '0.04' },
    cost: null,
    progressive: false,
    outputs: [],
    error: null,
    error_code: null,
    callback_url: null,
    attempts: 0,
    worker: null,
  };
  const output = {
    index: 0,
    blob: 'b',
    media_type: 'video/mp4',
    size_bytes: 9,
    duration: 6.25,
    width: 1344,
    height: 768,
  };
  const both = (change: Partial<JobRecord>, progress = 0, queuePosition?: number) => {
    const view = { job: { ...job, ...change }, progress, queuePosition };
    return { plain: plainRecord(view, url), openai: renderRecord(view, url, 'openai') };
  };
  const shown = {
    id: job.id,
    object: 'video',
    model: 'sluice/video',
    polling_url: `${url}/videos/${job.id}`,
    progress: 0,
    created_at: 1_700_000_000,
    started_at: null,
    completed_at: null,
    expires_at: null,
    prompt: 'A kite',
    seconds: '6',
    duration: 6,
    size: '1344x768',
    remixed_from_video_id: null,
    generation_id: 'req_1',
  };
  t.same(both({}, 0, 3), {
    plain: { ...shown, status: 'pending', queue_position: 3 },
    openai: { ...shown, status: 'queued', queue_position: 3, error: null },
  });
  const started = { started: 1_700_000_001_000 };
  t.same(both({ status: 'in_progress', ...started }, 40), {
    plain: { ...shown, status: 'in_progress', progress: 40, started_at: 1_700_000_001 },
    openai: { ...shown, status: 'in_progress', progress: 40, started_at: 1_700_000_001, error: null },
  });
  const ended = {
    ...started,
    ended: 1_700_000_002_000,
    expires: 1_700_086_402_000,
    outputs: [output],
    cost: '0.24',
  };
  const endedShown = {
    ...shown,
    progress: 100,
    started_at: 1_700_000_001,
    completed_at: 1_700_000_002,
    expires_at: 1_700_086_402,
    usage: { billed_seconds: 6, cost: 0.24, is_byok: false },
  };
  t.same(both({ status: 'completed', ...ended }, 100).plain, {
    ...endedShown,
    status: 'completed',
    output: { duration: 6.25, width: 1344, height: 768, fps: 24 },
    unsigned_urls: [`${url}/videos/${job.id}/content?index=0`],
  });
  t.same(both({ status: 'expired', ...ended }, 100).plain, { ...endedShown, status: 'expired' });
  t.same(both({ status: 'failed', error: 'No room', error_code: 'out_of_memory' }), {
    plain: { ...shown, status: 'failed', error: 'No room', error_code: 'out_of_memory' },
    openai: {
      ...shown,
      status: 'failed',
      error: { code: 'out_of_memory', message: 'No room' },
      error_code: 'out_of_memory',
    },
  });
  t.same(both({ status: 'cancelled' }).plain, { ...shown, status: 'cancelled' });
});
