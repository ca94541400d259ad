import type { Policy } from '../accounts/policy/policy.ts';
import type { ProviderPreferences } from '../canonical/directives.ts';
import type { Model } from '../catalog/model.ts';
import { isJsonObject, type Json } from '../lib/json.ts';

/** What an endpoint must promise to be sent a conversation, as its own request demanded it. */
export interface ContentRules {
  readonly zdr: boolean;
  readonly dataCollection: 'allow' | 'deny';
}

/** What an operator hands over by itself. */
export const NO_RULES: ContentRules = { zdr: false, dataCollection: 'allow' };
/** Where it is not known what was demanded. */
export const STRICTEST: ContentRules = { zdr: true, dataCollection: 'deny' };

type Demands = Pick<ProviderPreferences, 'zdr' | 'dataCollection'>;

/** The strictest of the request, its key, its workspace and the guardrails. */
export function contentRulesOf(
  request: Demands,
  { preferences, zeroRetention, paidTraining, freeTraining }: Policy,
): ContentRules {
  const all: readonly Partial<Demands>[] = [request, ...preferences];
  const isDenied = all.some(({ dataCollection }) => dataCollection === 'deny') || !paidTraining || !freeTraining;
  return {
    zdr: all.some(({ zdr }) => zdr === true) || Object.values(zeroRetention).includes(true),
    dataCollection: isDenied ? 'deny' : 'allow',
  };
}

/** Whether an endpoint of a model keeps them. An unknown policy counts as retaining and training. */
export function canRead({ endpoints }: Model, { zdr, dataCollection }: ContentRules): boolean {
  return endpoints.some(({ dataPolicy: { training = true, retentionDays = Infinity } }) => {
    if (zdr && retentionDays > 0) return false;
    return dataCollection === 'allow' || (!training && retentionDays === 0);
  });
}

/** What a job keeps of them. Unreadable: the strictest. */
export function readContentRules(stored: Json | undefined): ContentRules {
  const rules = isJsonObject(stored) ? stored : {};
  return { zdr: rules['zdr'] !== false, dataCollection: rules['dataCollection'] === 'allow' ? 'allow' : 'deny' };
}
