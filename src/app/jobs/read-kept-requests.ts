import { contentRulesOf } from '../../classifiers/content-rules.ts';
import type { KeptDeps } from '../../classifiers/kept-conversation.ts';
import type { KeptRequest, ReadKeptRequests } from '../../evaluations/kept-requests.ts';
import { isJsonObject } from '../../lib/json.ts';
import type { GenerationRow } from '../../store/generations/columns.ts';
import type { KeptGenerations } from '../../store/classifiers/kept-generations.ts';
import { chatInput } from '../../telemetry/destinations/otlp/messages.ts';
import type { GenerationContent } from '../../telemetry/serialize-content.ts';

const PAGE = 100;
/** Of the range, whether they are of a model that is wanted or not. */
const LOOKED_AT_MAX = 50_000;
/** No classifier: nothing is left out because of its tags. */
const ANY = { classifierId: '', version: 0 } as const;

/** Reads what workspaces keep of requests, as requests of chat. */
export function createReadKeptRequests(
  deps: KeptDeps & { readonly kept: Pick<KeptGenerations, 'page'> },
): ReadKeptRequests {
  return async function* read({ workspaceId, fromMs, toMs, models }) {
    let after: Parameters<KeptGenerations['page']>[1];
    for (let seen = 0; seen < LOOKED_AT_MAX; seen += PAGE) {
      const rows = await deps.kept.page({ workspaceId, fromMs, toMs, ...ANY }, after, PAGE);
      for (const row of rows)
        if (models.length === 0 || models.includes(row.model) || models.includes(row.modelRequested))
          yield await readOne(deps, row);
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE) return;
      after = { createdAtMs: last.createdAtMs, id: last.id };
    }
  };
}

async function readOne({ readContent, policyOf }: KeptDeps, row: GenerationRow): Promise<KeptRequest | undefined> {
  const content = await readContent(row.id);
  // Of content that an earlier version kept it is not known what its request demanded.
  if (content?.privacy === undefined || !isWhole(content)) return undefined;
  const { zdr, data_collection: dataCollection } = content.privacy;
  const rules = contentRulesOf({ zdr, dataCollection }, await policyOf(row));
  // A run may ask any model.
  if (rules.zdr || rules.dataCollection === 'deny') return undefined;
  const messages = chatInput(content);
  return { id: row.id, sessionId: row.sessionId, messages, response: content.output.completion ?? '' };
}

/** Texts alone: neither media nor declarations of tools are kept. */
function isWhole({ input, output, is_cut: isCut }: GenerationContent): boolean {
  if (isCut === true || output.completion === null || (output.tool_calls ?? []).length > 0) return false;
  return input.messages.every(
    ({ content }) =>
      typeof content === 'string' ||
      (Array.isArray(content) &&
        content.filter(isJsonObject).every(({ type }) => type === 'text' || type === 'reasoning')),
  );
}
