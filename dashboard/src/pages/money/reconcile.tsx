import type { ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useCall } from '../../api/read.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button, To } from '../../parts/button.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { formatCount } from '../../parts/money.ts';
import { Facts, Section } from '../../parts/page.tsx';
import { Failure } from '../../parts/states.tsx';
import { formatMs } from '../../parts/time.ts';
import { differenceOf, formatNanoText } from './nano.ts';

type Verification = Schemas['Reconciliation'];

const LOOK_MS = 500;
const LOOKS_MAX = 1_200;
const SHOWN_MAX = 200;

/** Compares every record with the ledger, to the nano-dollar. */
export function Reconcile(): ReactElement {
  const check = useCall(verify);
  return (
    <Section title="Reconcile">
      <div className="flex flex-col gap-3">
        <p className="max-w-prose text-dim">
          Both sides are added up anew: what each record says that it cost, and what the ledger took for it. Each
          difference is named with its request.
        </p>
        <div>
          <Button look="primary" disabled={check.isPending} onClick={() => check.mutate(undefined)}>
            {check.isPending ? 'Checking …' : 'Check now'}
          </Button>
        </div>
        {check.isError && <Failure error={check.error} />}
        {check.data !== undefined && <Proof of={check.data} />}
      </div>
    </Section>
  );
}

const TONES = { running: 'accent', agrees: 'good', differs: 'bad', failed: 'bad' } as const;
const WORDS = {
  running: 'it still runs: check again later',
  agrees: 'both sides agree',
  differs: 'they differ',
  failed: 'the check failed: the log has the reason',
} as const;

function Proof({ of: result }: { readonly of: Verification }): ReactElement {
  const { status, generations, entries, subjects, cost_nano_usd: cost, charged_nano_usd: charged } = result;
  const differences = result.differences ?? [];
  return (
    <div aria-live="polite" className="flex flex-col gap-3">
      <p>
        <Badge tone={TONES[status]}>{WORDS[status]}</Badge>
      </p>
      {cost !== null && charged !== null && (
        <Facts
          of={[
            ['Records', `${formatCount(generations)} generations, ${formatNanoText(cost)} USD`],
            ['Ledger', `${formatCount(entries)} entries, ${formatNanoText(charged)} USD`],
            ['Difference', <Mono key="difference">{differenceOf(cost, charged)} USD</Mono>],
            ['Counters', `${formatCount(subjects)} keys, workspaces and balances`],
            ['Took', formatMs(result.duration_ms)],
          ]}
        />
      )}
      {differences.length > 0 && <Differences of={differences} />}
      <details>
        <summary className="text-xs text-dim hover:text-text">The proof, to keep</summary>
        <JsonView value={result} label="Proof" />
      </details>
    </div>
  );
}

function Differences({ of: all }: { readonly of: NonNullable<Verification['differences']> }): ReactElement {
  return (
    <div className="overflow-x-auto">
      <table className="w-full min-w-[520px]">
        <thead className="text-left text-xs text-dim">
          <tr className="border-b border-line">
            <th scope="col">What</th>
            <th scope="col">Of</th>
            <th scope="col" className="text-right">
              Expected
            </th>
            <th scope="col" className="text-right">
              Found
            </th>
          </tr>
        </thead>
        <tbody>
          {all.slice(0, SHOWN_MAX).map((one) => (
            <tr key={`${one.what} ${one.of}`} className="h-7 border-b border-line last:border-0">
              <td>{one.what}</td>
              <td>{one.what === 'charge' ? <To to={`/ui/requests/${one.of}`}>{one.of}</To> : one.of}</td>
              <td className="text-right">
                <Mono>{one.unit === 'nano_usd' ? formatNanoText(one.expected) : one.expected}</Mono>
              </td>
              <td className="text-right">
                <Mono>{one.unit === 'nano_usd' ? formatNanoText(one.found) : one.found}</Mono>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {all.length > SHOWN_MAX && (
        <p className="text-dim">
          The first {SHOWN_MAX} of {formatCount(all.length)}; the proof has all.
        </p>
      )}
    </div>
  );
}

function Mono({ children }: { readonly children: string | readonly string[] }): ReactElement {
  return <span className="font-mono text-xs">{children}</span>;
}

/** A job: it is looked at until it is over. */
async function verify(): Promise<{ readonly data: Verification | undefined }> {
  const { data: begun } = await client.POST('/credits/verify');
  let job = begun?.data;
  for (let look = 0; job?.status === 'running' && look < LOOKS_MAX; look += 1) {
    // The next look is for what the last one did not find.
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const { data } = await client.GET('/credits/verify/{id}', { params: { path: { id: job.id } } });
    job = data?.data;
  }
  return { data: job };
}
