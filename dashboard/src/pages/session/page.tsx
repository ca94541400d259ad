import { useParams } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { readGenerations, type GenerationRow } from '../../api/generations.ts';
import { useRead } from '../../api/read.ts';
import { To } from '../../parts/button.tsx';
import { Segments } from '../../parts/field.tsx';
import { formatCount, formatUsd } from '../../parts/money.ts';
import { Page as Frame, Section, Stat, Stats } from '../../parts/page.tsx';
import { useSearchState } from '../../parts/search.ts';
import { Empty, Load } from '../../parts/states.tsx';
import { Money, Name, useNow } from '../../parts/text.tsx';
import { formatMs, formatRowTime, formatSpan } from '../../parts/time.ts';
import { labelOfProvider } from '../../parts/provider-label.ts';
import { findingsOf } from './findings.ts';
import { parseSessionSearch, WIDTHS, type SessionSearch } from './search.ts';

const ROWS = 500;
const COLORS = 8;

/** One conversation: its turns, each as wide as it was dear, long or large. */
export function Page(): ReactElement {
  const { id = '' } = useParams({ strict: false });
  return (
    <Frame
      documentTitle={`Session ${id}`}
      title={
        <>
          <To to="/ui/requests" search={{ session: id }} className="text-dim hover:underline">
            Sessions
          </To>
          <span className="text-dim">/</span>
          <Name>{id}</Name>
        </>
      }
    >
      <Conversation id={id} />
    </Frame>
  );
}

function Conversation({ id }: { readonly id: string }): ReactElement {
  const [{ width }, change] = useSearchState(parseSessionSearch);
  const list = useRead(['session', id], async (signal) => ({
    data: await readGenerations({ session: id }, { limit: ROWS }, signal),
  }));
  return (
    <Load of={list}>
      {({ rows, cursor }) => {
        const turns = rows.toReversed();
        if (turns.length === 0)
          return (
            <Empty title="No request named this session in 31 days">
              <p>
                Programs name a session with the header <code className="font-mono text-xs">x-session-id</code>: its
                turns stay on one endpoint, and are together here.
              </p>
            </Empty>
          );
        return (
          <>
            {cursor !== undefined && (
              <p role="note" className="border-b border-line bg-warn-soft px-4 py-1 text-warn">
                The session is longer: what you see is of its newest {formatCount(ROWS)} turns.
              </p>
            )}
            <Sums turns={turns} />
            <Section
              title="Turns"
              actions={
                <Segments
                  label="As wide as its"
                  value={width}
                  options={WIDTHS.map((value) => ({ value, label: value }))}
                  onChange={(next) => change({ width: next === 'cost' ? undefined : next }, false)}
                />
              }
            >
              <Flame turns={turns} width={width} />
            </Section>
            <Findings turns={turns} />
            <TurnList turns={turns} />
          </>
        );
      }}
    </Load>
  );
}

function Sums({ turns }: { readonly turns: readonly GenerationRow[] }): ReactElement {
  const usd = turns.reduce((sum, { total_cost: cost }) => sum + (cost ?? 0), 0);
  const unknown = turns.filter(({ total_cost: cost }) => cost === null).length;
  const [first, last] = [turns[0], turns.at(-1)];
  const ms =
    first === undefined || last === undefined
      ? 0
      : Date.parse(last.created_at) - Date.parse(first.created_at) + (last.latency ?? 0);
  return (
    <Stats>
      <Stat label="Requests">{formatCount(turns.length)}</Stat>
      <Stat label="From first to last">{formatSpan(ms)}</Stat>
      <Stat label="Cost" hint={unknown > 0 ? `${unknown} of unknown price` : undefined}>
        {unknown > 0 ? '≥ ' : ''}
        {formatUsd(usd)} $
      </Stat>
      <Stat label="Tokens in">
        {formatCount(turns.reduce((sum, { tokens_prompt: count }) => sum + (count ?? 0), 0))}
      </Stat>
      <Stat label="Tokens out">
        {formatCount(turns.reduce((sum, { tokens_completion: count }) => sum + (count ?? 0), 0))}
      </Stat>
    </Stats>
  );
}

const VALUES: Readonly<Record<SessionSearch['width'], (turn: GenerationRow) => number>> = {
  cost: ({ total_cost: cost }) => cost ?? 0,
  time: ({ latency }) => latency ?? 0,
  tokens: ({ tokens_prompt: input, tokens_completion: output }) => (input ?? 0) + (output ?? 0),
};

function Flame({
  turns,
  width,
}: {
  readonly turns: readonly GenerationRow[];
  readonly width: SessionSearch['width'];
}): ReactElement {
  const models = [...new Set(turns.map(({ model }) => model))];
  const values = turns.map(VALUES[width]);
  const sum = values.reduce((total, value) => total + value, 0);
  return (
    <>
      <ul className="flex h-10 gap-0.5" aria-label={`Turns by ${width}`}>
        {turns.map((turn, at) => (
          <li
            key={turn.id}
            className="min-w-1.5 overflow-hidden rounded"
            style={{
              flexGrow: sum === 0 ? 1 : Math.max(0.01, (values[at] ?? 0) / sum),
              flexBasis: 0,
              background: `var(--chart-${(models.indexOf(turn.model) % COLORS) + 1})`,
              color: 'light-dark(#fff, #0c0e12)',
            }}
          >
            <To to={`/ui/requests/${turn.id}`} className="block h-full truncate px-1.5 py-2.5 text-xs">
              {at + 1} {turn.model}
            </To>
          </li>
        ))}
      </ul>
      <ul className="mt-2 flex flex-wrap gap-x-4 text-xs text-dim">
        {models.map((model, at) => (
          <li key={model} className="flex items-center gap-1.5">
            <span
              aria-hidden="true"
              className="size-2 rounded-sm"
              style={{ background: `var(--chart-${(at % COLORS) + 1})` }}
            />
            {model}
          </li>
        ))}
      </ul>
    </>
  );
}

function Findings({ turns }: { readonly turns: readonly GenerationRow[] }): ReactElement | undefined {
  const findings = findingsOf(turns);
  if (findings.length === 0) return undefined;
  return (
    <Section title="Findings">
      <ul className="list-disc pl-5">
        {findings.map((finding) => (
          <li key={finding}>{finding}</li>
        ))}
      </ul>
    </Section>
  );
}

function TurnList({ turns }: { readonly turns: readonly GenerationRow[] }): ReactElement {
  const nowMs = useNow();
  return (
    <Section title="Every request">
      <ol>
        {turns.map((turn, at) => (
          <li key={turn.id} className="flex min-h-7 flex-wrap items-center gap-x-4 border-b border-line last:border-0">
            <span className="w-5 text-right text-dim">{at + 1}</span>
            <span className="font-mono text-xs">{formatRowTime(new Date(turn.created_at), nowMs)}</span>
            <span className="min-w-0 flex-1 truncate max-sm:basis-3/5">
              <To to={`/ui/requests/${turn.id}`}>{turn.model}</To>{' '}
              <span className="text-dim">{labelOfProvider(turn.provider, turn.provider_name)}</span>
            </span>
            <span className="w-32 text-right font-mono text-xs">
              {formatCount(turn.tokens_prompt)} / {formatCount(turn.tokens_completion)}
            </span>
            <span className="w-20 text-right font-mono text-xs">{formatMs(turn.latency)}</span>
            <span className="w-24 text-right">
              <Money usd={turn.total_cost} />
            </span>
          </li>
        ))}
      </ol>
    </Section>
  );
}
