/** Examples of embeddings, rerank, decisions and tokens. */

export const embeddingsExamples = {
  request: {
    'application/json': {
      'Two texts': { model: 'sluice/embed', input: ['a river', 'a bank'] },
      'A search query': { model: 'sluice/embed', input: 'where do rivers end', input_type: 'search_query' },
    },
  },
  response: {
    'application/json': {
      'Two vectors, shortened': {
        id: 'emb-65a9a358806c904eec1b8c98m',
        object: 'list',
        data: [
          { object: 'embedding', index: 0, embedding: [0.1134, -0.0271, 0.0482] },
          { object: 'embedding', index: 1, embedding: [0.0917, 0.0133, -0.0615] },
        ],
        model: 'sluice/embed',
        usage: { prompt_tokens: 4, total_tokens: 4 },
      },
    },
  },
};

export const rerankExamples = {
  request: {
    'application/json': {
      'The best two of three': {
        model: 'sluice/rerank',
        query: 'When does the tide rise?',
        documents: ['Yeast makes bread rise.', 'The tide rises twice a day.', { text: 'Locks have gates.' }],
        top_n: 2,
      },
    },
  },
  response: {
    'application/json': {
      'The best two': {
        id: 'rerank-260a646e8000b666e26853681',
        object: 'list',
        model: 'sluice/rerank',
        results: [
          { index: 1, relevance_score: 0.899, document: { text: 'The tide rises twice a day.' } },
          { index: 0, relevance_score: 0.457, document: { text: 'Yeast makes bread rise.' } },
        ],
        usage: { prompt_tokens: 34, total_tokens: 34 },
        meta: { billed_units: { input_tokens: 34 } },
      },
    },
  },
};

export const decisionsExamples = {
  request: {
    'application/json': {
      'One question of each type': {
        model: 'sluice/decide',
        state: 'The parcel arrived broken and I want my money back.',
        questions: {
          refund: { type: 'noul', instructions: 'Does the customer want money back?' },
          mood: {
            type: 'score',
            instructions: 'How does the customer feel?',
            criteria: ['angry', 'calm', 'happy'],
          },
          team: {
            type: 'choice',
            instructions: 'Who should answer?',
            criteria: { returns: 'Broken parcel, money back', sales: 'Wants to buy' },
          },
        },
      },
    },
  },
  response: {
    'application/json': {
      'One answer of each type': {
        id: 'dec-65a9a358806c904eec1b8c98l',
        model: 'sluice/decide',
        answers: {
          refund: { type: 'noul', noul: 0.82 },
          mood: {
            type: 'score',
            score: 1.5,
            legend: { 1: 'angry', 2: 'calm', 3: 'happy' },
            probabilities: { 1: 0.6, 2: 0.3, 3: 0.1 },
            confidence: 0.4,
          },
          team: {
            type: 'choice',
            choice: 'returns',
            probabilities: { returns: 0.95, sales: 0.05 },
            confidence: 0.9,
          },
        },
        usage: { input_tokens: 160, output_tokens: 0 },
      },
    },
  },
};

const tokens = [791, 5409, 374, 2539, 13];

export const tokenizeExamples = {
  request: {
    'application/json': {
      'A text': { model: 'sluice/chat', prompt: 'The lock is full.', return_token_strs: true },
      'A conversation': { model: 'sluice/chat', messages: [{ role: 'user', content: 'Is the lock full?' }] },
    },
  },
  response: {
    'application/json': {
      'Tokens and their texts': {
        count: 5,
        max_model_len: 131072,
        tokens,
        token_strs: ['The', ' lock', ' is', ' full', '.'],
      },
    },
  },
};

export const detokenizeExamples = {
  request: { 'application/json': { 'Five tokens': { model: 'sluice/chat', tokens } } },
  response: { 'application/json': { 'Their text': { prompt: 'The lock is full.' } } },
};
