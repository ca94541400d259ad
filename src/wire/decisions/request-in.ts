import { z } from 'zod';
import type {
  DecisionOperation,
  DecisionOption,
  DecisionQuestion,
  DecisionRequest,
} from '../../canonical/decisions.ts';
import type { Warning } from '../../canonical/extra.ts';
import { invalid } from '../../canonical/gateway-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import { decodeDirectives, gatewayShape, modelSlug } from '../gateway/directives.ts';
import type { HeaderDirectives } from '../gateway/headers.ts';
import { metadata } from '../gateway/metadata.ts';
import { providerPreferences } from '../gateway/provider-preferences.ts';
import { checkShape } from '../gateway/validation/check-shape.ts';
import { compileSoon } from '../gateway/validation/fast-schema.ts';

const STATE_CHARS_MAX = 1_048_576;
const QUESTIONS_MAX = 64;
const INSTRUCTIONS_CHARS_MAX = 20_000;
const OPTIONS_MAX = 255;
const LEVELS_MAX = 10;
const KEY_CHARS_MAX = 200;
const TEXT_CHARS_MAX = 2_000;
const MODELS_MAX = 8;
const ORDERS_MAX = 8;
const USER_CHARS_MAX = 256;
const QUESTION_ID = /^[A-Za-z0-9_.:-]{1,64}$/;

const { session_id, trace } = gatewayShape({ plugin: z.never() });
const optionText = z.string().max(TEXT_CHARS_MAX);

const options = z.strictObject({
  emulation: z.enum(['auto', 'native', 'logprobs', 'schema']).optional(),
  orders: z.int().min(1).max(ORDERS_MAX).optional(),
  calibration: z.string().optional(),
  reasons: z.boolean().optional(),
});

/** The body of `POST /alpha/decisions`. Null is the same as absent. `state` and `questions` are checked by themselves. */
export const decisionsSchema = z.looseObject({
  model: modelSlug.nullish(),
  models: z.array(modelSlug).min(1).max(MODELS_MAX).nullish(),
  provider: providerPreferences.nullish(),
  session_id: session_id.nullish(),
  trace: trace.nullish(),
  user: z.string().max(USER_CHARS_MAX).nullish(),
  metadata: metadata.nullish(),
  options: options.nullish(),
});

const KNOWN: ReadonlySet<string> = new Set([...Object.keys(decisionsSchema.shape), 'state', 'questions']);
/** Beyond this a warning each says no more than the first ones do. */
const WARNINGS_MAX = 20;

compileSoon(decisionsSchema);

/** @throws GatewayError 400 with `issues` */
export function decodeDecisions(body: Json, text: string, headers: HeaderDirectives): DecisionRequest {
  const parsed = checkShape(decisionsSchema, body, { text });
  const { emulation = 'auto', orders, calibration = 'auto', reasons = false } = parsed.options ?? {};
  if (reasons) throw invalid('options.reasons', 'is not built yet: leave it out');
  const { model, models } = parsed;
  if ((model ?? undefined) === undefined && (models ?? undefined) === undefined) throw invalid('model', 'is required');
  const fields = {
    provider: parsed.provider,
    ...(models && { models }),
    ...(parsed.session_id && { session_id: parsed.session_id }),
    ...(parsed.trace && { trace: parsed.trace }),
  };
  return {
    state: readState(parsed['state']),
    isJson: typeof parsed['state'] !== 'string',
    questions: readQuestions(parsed['questions']),
    method: emulation,
    calibration,
    ...(orders !== undefined && { ordersMax: orders }),
    directives: decodeDirectives(fields, headers, {
      model: model ?? undefined,
      user: parsed.user ?? undefined,
      metadata: parsed.metadata ?? undefined,
    }),
    warnings: warningsOf(parsed),
  };
}

/** The same, for a model that decides by itself. */
export function operationOf({ state, isJson, questions, directives, warnings }: DecisionRequest): DecisionOperation {
  return { kind: 'decisions', delivery: 'whole', state, isJson: isJson === true, questions, directives, warnings };
}

function warningsOf(parsed: Readonly<Record<string, unknown>>): readonly Warning[] {
  return Object.keys(parsed)
    .filter((member) => !KNOWN.has(member))
    .slice(0, WARNINGS_MAX)
    .map((path) => ({ code: 'field-dropped', path, message: 'has no meaning for decisions' }));
}

function readState(state: unknown): string {
  if (state === undefined || state === null) throw invalid('state', 'is required');
  const text = typeof state === 'string' ? state : JSON.stringify(state);
  if (text === '') throw invalid('state', 'must not be empty');
  if (text.length > STATE_CHARS_MAX)
    throw invalid('state', `must have at most ${STATE_CHARS_MAX} characters as text`, 'string_too_long');
  return text;
}

/** @throws GatewayError 400 at the first question that is wrong */
function readQuestions(questions: unknown): readonly DecisionQuestion[] {
  if (questions === undefined || questions === null) throw invalid('questions', 'is required');
  if (!isJsonObject(questions)) throw invalid('questions', 'must be an object of questions by their ids');
  const entries = Object.entries(questions);
  if (entries.length === 0) throw invalid('questions', 'must not be empty');
  if (entries.length > QUESTIONS_MAX) throw invalid('questions', `must have at most ${QUESTIONS_MAX} members`);
  return entries.map(([id, question]) => {
    if (!QUESTION_ID.test(id))
      throw invalid('questions', `the id ${JSON.stringify(id.slice(0, 80))} must have 1 to 64 of A-Z a-z 0-9 _ . : -`);
    return readQuestion(id, question, `questions.${id}`);
  });
}

function readQuestion(id: string, question: Json | undefined, path: string): DecisionQuestion {
  if (!isJsonObject(question)) throw invalid(path, 'must be an object with type, instructions and criteria');
  const { type } = question;
  if (type === 'box') throw invalid(`${path}.type`, 'box is not built yet: use choice, score or noul');
  if (type !== 'choice' && type !== 'score' && type !== 'noul')
    throw invalid(`${path}.type`, 'must be choice, score or noul');
  const instructions = readInstructions(question, `${path}.instructions`);
  return { id, type, instructions, options: OPTIONS_OF[type](question['criteria'], `${path}.criteria`) };
}

function readInstructions({ instructions }: JsonObject, path: string): string {
  if (instructions === undefined || instructions === null) throw invalid(path, 'is required');
  const text = typeof instructions === 'string' ? instructions : JSON.stringify(instructions);
  if (text === '') throw invalid(path, 'must not be empty');
  if (text.length > INSTRUCTIONS_CHARS_MAX)
    throw invalid(path, `must have at most ${INSTRUCTIONS_CHARS_MAX} characters`, 'string_too_long');
  return text;
}

const OPTIONS_OF = { choice: readChoice, score: readScore, noul: readNoul } as const;

function readChoice(criteria: Json | undefined, path: string): readonly DecisionOption[] {
  if (!isJsonObject(criteria)) throw invalid(path, 'must be an object of options with a text or null each');
  const entries = Object.entries(criteria);
  if (entries.length < 2 || entries.length > OPTIONS_MAX) throw invalid(path, `must have 2 to ${OPTIONS_MAX} options`);
  return entries.map(([key, text]) => {
    if (key === '' || key.length > KEY_CHARS_MAX)
      throw invalid(path, `the name of an option must have 1 to ${KEY_CHARS_MAX} characters`);
    const at = `${path}[${JSON.stringify(key)}]`;
    return text === null ? { key } : { key, text: readText(text, at) };
  });
}

function readScore(criteria: Json | undefined, path: string): readonly DecisionOption[] {
  if (!Array.isArray(criteria)) throw invalid(path, 'must be a list of texts, from low to high');
  const levels: readonly Json[] = criteria;
  if (levels.length < 2 || levels.length > LEVELS_MAX) throw invalid(path, `must have 2 to ${LEVELS_MAX} levels`);
  return levels.map((text, index) => ({ key: String(index + 1), text: readText(text, `${path}[${index}]`) }));
}

function readNoul(criteria: Json | undefined, path: string): readonly DecisionOption[] {
  const given = criteria ?? {};
  if (!isJsonObject(given)) throw invalid(path, 'must be an object with the texts "true" and "false"');
  const unknown = Object.keys(given).find((key) => key !== 'true' && key !== 'false');
  if (unknown !== undefined) throw invalid(path, 'may have the members "true" and "false" alone');
  return ['true', 'false'].map((key) => {
    const text = given[key] ?? undefined;
    return text === undefined ? { key } : { key, text: readText(text, `${path}.${key}`) };
  });
}

function readText(value: Json | undefined, path: string): string {
  if (!optionText.safeParse(value).success || typeof value !== 'string')
    throw invalid(path, `must be a text of at most ${TEXT_CHARS_MAX} characters`);
  return value;
}
