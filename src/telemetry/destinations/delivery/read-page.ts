import type { ExportRow } from '../../../store/exports/export-rows.ts';
import type { GenerationContent } from '../../serialize-content.ts';
import type { LogSwitches } from '../../content-log.ts';
import { isSampled } from '../../is-sampled.ts';
import type { ExportedGeneration } from '../contract.ts';
import type { LiveDestination } from '../destinations.ts';
import { includeParts, isSampledByCaller, readFacts, toExported } from '../exported.ts';
import { fitsRules } from '../filters/filter-rules.ts';
import type { PatternSearch } from '../filters/pattern-search.ts';

/** A row with what is to be done with it. */
export interface PageItem {
  readonly row: ExportRow;
  /** Absent: it is passed over. */
  readonly generation?: ExportedGeneration;
  /** It is passed over although the destination wants it. */
  readonly isDropped?: true;
  /** UTF-16 units of its texts: everything else of a record is small. */
  readonly chars: number;
}

export interface PageDeps {
  readonly live: LiveDestination;
  readonly switches: Pick<LogSwitches, 'isBroadcastEnabled' | 'isIoLoggingEnabled'>;
  /** @returns `undefined` where there is none, or none any more */
  readonly findContent: (generationId: string) => Promise<GenerationContent | undefined>;
  readonly patterns: Pick<PatternSearch, 'search'>;
  readonly nowMs: number;
  /** Older records are dropped. */
  readonly ageMsMax: number;
  /** What callers do not sample is not sent to receivers of OpenTelemetry. */
  readonly followsSampledFlag?: boolean;
}

/** What is in memory of a destination. */
const PAGE_CHARS_MAX = 8 * 1_024 * 1_024;
/** How long the content of a record is waited for, which is stored beside it. */
const CONTENT_MS_MAX = 5_000;

/** Selects among rows, in their order, as far as memory allows, and up to one whose content is still on its way. */
export async function readPage(rows: readonly ExportRow[], deps: PageDeps): Promise<readonly PageItem[]> {
  const items: PageItem[] = [];
  let chars = 0;
  for (const row of rows) {
    const item = await readItem(row, deps);
    if (item === undefined) break;
    items.push(item);
    chars += item.chars;
    if (chars > PAGE_CHARS_MAX) break;
  }
  return items;
}

/** @returns `undefined`: its content may come yet */
async function readItem(row: ExportRow, deps: PageDeps): Promise<PageItem | undefined> {
  const { live, switches, nowMs } = deps;
  const { row: destination, filterRules } = live;
  if (!switches.isBroadcastEnabled || !isSelected(live, row)) return { row, chars: 0 };
  if (row.endedMs < nowMs - deps.ageMsMax) return { row, chars: 0, isDropped: true };
  const read = readFacts(row);
  if (deps.followsSampledFlag === true && live.type.isOtlp === true && !isSampledByCaller(read))
    return { row, chars: 0 };
  const includesContent = !destination.privacyMode && live.type.isForSpending !== true;
  const isExpected = includesContent && read.hasContent && switches.isIoLoggingEnabled;
  const content = isExpected ? await deps.findContent(row.generation.id) : undefined;
  const isMissing = isExpected && content === undefined;
  if (isMissing && nowMs < row.endedMs + CONTENT_MS_MAX) return undefined;
  const whole = toExported(row, read, content);
  if (filterRules !== null) {
    const fits = await judgeRules(filterRules, whole, deps);
    if (fits !== true) return { row, chars: 0, ...(fits === undefined && { isDropped: true as const }) };
  }
  const parts = includeParts(isMissing ? { ...whole, contentState: 'missing' } : whole, {
    cost: destination.sendsCost || live.type.isForSpending === true,
    identity: destination.sendsIdentity,
    requestContext: destination.sendsRequestContext,
    // Messages of errors quote prompts: they go where the content of this record may go.
    content: isExpected,
  });
  return { row, generation: parts, chars: charsOf(parts) };
}

/** @returns `undefined`: a pattern took too long, and whether the record was wanted is not known */
async function judgeRules(
  rules: NonNullable<LiveDestination['filterRules']>,
  generation: ExportedGeneration,
  { patterns }: PageDeps,
): Promise<boolean | undefined> {
  try {
    return await fitsRules(rules, generation, patterns);
  } catch {
    return undefined;
  }
}

/** Of the keys, and of the share of sessions: a session is sent whole or not at all, to each destination by itself. @spec destination-3 */
function isSelected({ row: destination }: LiveDestination, { generation }: ExportRow): boolean {
  const { apiKeyHashes, id, samplingPpm } = destination;
  if (apiKeyHashes !== null && !apiKeyHashes.includes(generation.keyHash)) return false;
  return isSampled(`${id}:${generation.sessionId ?? generation.requestId}`, samplingPpm);
}

function charsOf({ content, trace }: ExportedGeneration): number {
  return JSON.stringify(trace).length + (content === undefined ? 0 : JSON.stringify(content).length);
}
