import type { Principal } from '../accounts/principal.ts';
import { DEFAULT_PREFERENCES, type Directives } from '../canonical/directives.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { Clock } from '../lib/clock.ts';
import { newGenerationId, randomText } from '../lib/ids.ts';
import { isReasoning, judgeOf, takesSchema, type JudgeModelDeps } from '../pipeline/decisions/judge-model.ts';
import type { Generate } from '../pipeline/request.ts';
import { BudgetTooSmall } from '../pipeline/route/nested-route.ts';
import { collectResponse } from '../pipeline/response/collect-response.ts';
import type { ClassifierRow } from '../resources/classifiers.ts';
import type { ClientFormat } from '../wire/format.ts';
import type { ContentRules } from './content-rules.ts';
import { promptOf, readTags, schemaOf } from './prompt.ts';

export interface ClassifyDeps extends JudgeModelDeps {
  readonly generate: Generate;
  /** In which responses are folded. */
  readonly format: ClientFormat;
  readonly clock: Clock;
}

export interface Classification {
  /** By dimension; absent: the reply gave none. */
  readonly tags: ReadonlyMap<string, string> | undefined;
  /** Why there are no tags. */
  readonly error: string | undefined;
  /** Neither the classifier's limit nor those of its key pay for the call. */
  readonly isUnpaid?: true;
  /** It is the classifier's limit. */
  readonly isOverLimit?: true;
  readonly costNanoUsd: number;
}

export interface ClassifyInput {
  readonly classifier: Pick<ClassifierRow, 'model' | 'provider' | 'prompt' | 'dimensions'>;
  readonly payer: Principal;
  readonly transcript: string;
  readonly rules: ContentRules;
  /** The most that the call may cost. */
  readonly budgetNanoUsd: number;
  readonly signal: AbortSignal;
  /** What its record belongs to. Absent: it stands alone. */
  readonly requestId?: string;
}

const NONCE_CHARS = 16;
/** Enough for a value of each dimension, and for models that think before they reply. */
const REPLY_TOKENS_MAX = 2_048;
const CALL_MS = 60_000;
const UNPAID = 402;

/** Runs one call of a classifier's model, as a generation of its payer. An error of the call is an outcome. */
export async function classify(deps: ClassifyDeps, input: ClassifyInput): Promise<Classification> {
  const { generate, format, clock } = deps;
  const { classifier, payer, transcript, budgetNanoUsd, signal, requestId } = input;
  let costNanoUsd = 0;
  const id = newGenerationId(clock.nowMs());
  try {
    const directives = directivesOf(input);
    const model = judgeOf(deps, directives);
    const schema = schemaOf(classifier);
    const { response } = await collectResponse(
      generate,
      {
        id,
        origin: 'classifier',
        request: {
          format: format.id,
          delivery: 'whole',
          turns: promptOf(classifier, transcript, randomText(NONCE_CHARS)),
          tools: [],
          settings: {
            temperature: 0,
            maxTokens: REPLY_TOKENS_MAX,
            ...(takesSchema(model) && {
              responseFormat: { type: 'json_schema' as const, name: 'tags', schema, strict: true },
            }),
            ...(isReasoning(model) && { reasoning: { effort: 'minimal' as const } }),
          },
          directives,
          warnings: [],
        },
        principal: payer,
        arrivedMs: clock.monotonicMs(),
        nested: {
          requestId: requestId ?? id,
          startedBy: undefined,
          depth: 1,
          budgetNanoUsd,
          withoutTools: new Set(),
          runs: { count: 1 },
          ended: ({ charge }) => void (costNanoUsd = charge?.totalNanoUsd ?? 0),
        },
      },
      format,
      [signal, AbortSignal.timeout(CALL_MS)],
    );
    const text = response.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
    const tags = response.end?.finish === 'stop' ? readTags(text, classifier) : undefined;
    return { tags, error: tags === undefined ? 'The model gave no valid reply.' : undefined, costNanoUsd };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const isUnpaid = error.status === UNPAID;
    const isOverLimit = error.cause instanceof BudgetTooSmall;
    return {
      tags: undefined,
      error: error.message,
      costNanoUsd,
      ...(isUnpaid && { isUnpaid }),
      ...(isOverLimit && { isOverLimit }),
    };
  }
}

function directivesOf({ classifier: { model, provider }, rules }: ClassifyInput): Directives {
  const isDenied = rules.dataCollection === 'deny' || provider?.dataCollection === 'deny';
  return {
    models: [model],
    provider: {
      ...DEFAULT_PREFERENCES,
      ...provider,
      dataCollection: isDenied ? 'deny' : 'allow',
      zdr: rules.zdr || provider?.zdr === true,
    },
    plugins: [],
    echoUpstreamBody: false,
    serviceMetadata: false,
    betas: [],
  };
}
