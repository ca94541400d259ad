import type { ConverseFacts } from '../../wire/converse/dialect.ts';
import type { Dialect } from '../../wire/format.ts';
import { claudeDialect } from './claude.ts';

/** Where a profile may send a request, before the vendor: docs.aws.amazon.com "Inference profiles", read 2026-11. */
const REGION = /^(?:us-gov|us|eu|apac|au|jp|ca|global)\./;
/** `arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic...`; of other kinds the name may be anything. */
const ARN = /^arn:[^/]*\//;

/**
 * What the model behind a name takes. The name is a model's, a profile's with its region, or an ARN that holds one of
 * these; of any other name nothing is known. Sources, unless a line names its own, all read 2026-11:
 * - docs.aws.amazon.com "Supported models and model features", "Get validated JSON results from models" and "Prompt
 *   caching for faster model inference";
 * - github.com/pydantic/pydantic-ai `providers/bedrock.py` (tools' results, first message, structured output; checked
 *   against the service there until 2026-08);
 * - github.com/langchain-ai/langchain-aws `bedrock_converse.py` (forced tools).
 */
export function dialectOf(model: string): Dialect {
  const name = model.replace(ARN, '').replace(REGION, '');
  const vendorEnd = name.indexOf('.');
  const vendor = name.slice(0, Math.max(0, vendorEnd));
  return DIALECT_OF_VENDOR.get(vendor)?.(name.slice(vendorEnd + 1)) ?? {};
}

const DIALECT_OF_VENDOR: ReadonlyMap<string, (model: string) => Dialect> = new Map([
  ['anthropic', claudeDialect],
  ['amazon', (model) => ({ converse: amazonFacts(model) })],
  ['meta', (model) => ({ converse: metaFacts(model) })],
  ['mistral', mistralDialect],
  ['cohere', (model) => ({ converse: cohereFacts(model) })],
  ['ai21', (model) => ({ converse: jambaFacts(model) })],
  ['deepseek', (model) => ({ converse: deepSeekFacts(model) })],
  ['openai', openAiDialect],
  ['qwen', qwenDialect],
  ['google', (model) => structured(/^gemma-3-(?:12|27)b/.test(model), { forces: [] })],
  ['minimax', (model) => structured(model.startsWith('minimax-m2'), { forces: [] })],
  ['nvidia', (model) => structured(model.startsWith('nemotron-nano'), { forces: [] })],
  ['zai', () => structured(true, { leadingAssistant: true })],
  ['moonshot', kimiDialect],
  ['moonshotai', kimiDialect],
  ['writer', () => ({ converse: { forces: [], besideResults: [], refusesResultStatus: true } })],
]);

/** Models with structured output also validate calls. */
function structured(binds: boolean, facts: ConverseFacts): Dialect {
  return binds ? { structuredOutput: true, converse: { ...facts, strictTools: true } } : { converse: facts };
}

function amazonFacts(model: string): ConverseFacts {
  if (!model.startsWith('nova'))
    return { refusesSystem: true, refusesTools: true, media: model.includes('premier') ? [] : ['document'] };
  return {
    topK: 'inferenceConfig',
    cachePoints: 'apart-from-tools',
    media: model.startsWith('nova-micro') ? [] : ['image', 'document', 'video'],
    // docs.aws.amazon.com Nova 2 user guide "Extended thinking".
    ...(model.startsWith('nova-2') && { reasoning: 'reasoningConfig' as const }),
  };
}

function metaFacts(model: string): ConverseFacts {
  const sees = /^llama(?:4-|3-2-(?:11|90)b)/.test(model);
  return {
    // Since 3.1, and not the small ones of 3.2.
    refusesTools: !/^llama(?:3-[13]-|3-2-(?:11|90)b|[4-9])/.test(model),
    forces: [],
    besideResults: [],
    media: sees ? ['image', 'document'] : ['document'],
    mediaInResults: ['image', 'document'],
  };
}

function mistralDialect(model: string): Dialect {
  const first = /^(?:mistral-7b|mixtral)/.test(model);
  const binds = /^(?:magistral-small|ministral-3|mistral-large-3|voxtral)/.test(model);
  return structured(binds, {
    // github.com/anomalyco/opencode pull request 48843.
    shortToolIds: true,
    forces: model.startsWith('mistral-large') ? ['any'] : [],
    besideResults: [],
    mediaInResults: ['document'],
    ...(first && { refusesSystem: true, refusesTools: true, media: ['document'] as const }),
    ...(model.startsWith('pixtral') && { media: ['image', 'document'] as const }),
  });
}

function cohereFacts(model: string): ConverseFacts {
  if (model.startsWith('command-r')) return { forces: [], media: ['document'] };
  return { refusesSystem: true, refusesTools: true, media: ['document'] };
}

function jambaFacts(model: string): ConverseFacts {
  return model.startsWith('jamba-instruct') ? { refusesTools: true, media: [] } : { forces: [], media: ['document'] };
}

function deepSeekFacts(model: string): ConverseFacts {
  if (model.startsWith('r1')) return { alwaysThinks: true, refusesTools: true, media: ['document'] };
  return { forces: model.startsWith('v3-v1') ? ['any'] : ['any', 'tool'] };
}

/** Only the open-weight models are served here. */
function openAiDialect(model: string): Dialect {
  if (!model.startsWith('gpt-oss')) return {};
  return {
    // aws-samples.github.io "Structured Outputs on Amazon Bedrock".
    structuredOutput: true,
    converse: {
      reasoning: 'reasoning_effort',
      alwaysThinks: true,
      // github.com/langchain4j/langchain4j issue 3650.
      refusesStop: true,
      forces: [],
      media: [],
    },
  };
}

function qwenDialect(model: string): Dialect {
  return structured(model.startsWith('qwen3'), {
    // github.com/langgenius/dify-official-plugins issue 1767.
    refusesStop: true,
    reasoning: 'reasoning_config',
    alwaysThinks: true,
    forces: [],
    media: model.includes('-vl-') ? ['image'] : [],
    mediaInResults: [],
    leadingAssistant: true,
  });
}

function kimiDialect(): Dialect {
  return structured(true, { mediaInResults: [], leadingAssistant: true });
}
