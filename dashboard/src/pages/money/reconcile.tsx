import { useState, type ReactElement } from 'react';
import { asApiError, isRecord, type ApiError } from '../../api/errors.ts';
import { postApi, readApi } from '../../api/transport.ts';
import { Button } from '../../parts/button.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { Section } from '../../parts/page.tsx';
import { Failure, Needs } from '../../parts/states.tsx';

const LOOK_MS = 500;
const LOOKS_MAX = 240;

/** Compares every record with the ledger, to the nano-dollar. */
export function Reconcile(): ReactElement {
  return (
    <Section title="Reconcile">
      <Needs operation="POST /credits/verify">
        <Check />
      </Needs>
    </Section>
  );
}

function Check(): ReactElement {
  const [result, setResult] = useState<unknown>();
  const [error, setError] = useState<ApiError>();
  const [isBusy, setIsBusy] = useState(false);
  const check = async (): Promise<void> => {
    setIsBusy(true);
    setError(undefined);
    try {
      setResult(await waitForResult());
    } catch (failure) {
      setError(asApiError(failure));
    }
    setIsBusy(false);
  };
  return (
    <div className="flex flex-col gap-3">
      <p className="max-w-prose text-dim">
        Both sides are added up anew: what each record says that it cost, and what the ledger took for it. Each
        difference is named with its request.
      </p>
      <div>
        <Button look="primary" disabled={isBusy} onClick={() => void check()}>
          {isBusy ? 'Checking …' : 'Check now'}
        </Button>
      </div>
      {error !== undefined && <Failure error={error} />}
      {result !== undefined && <JsonView value={result} label="Proof" />}
    </div>
  );
}

/** A job: it is looked at until it is over. */
async function waitForResult(): Promise<unknown> {
  const begun = await postApi('/credits/verify', {});
  const job = isRecord(begun) && isRecord(begun['data']) ? begun['data'] : {};
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    // The next look is for what the last one did not find.
    // eslint-disable-next-line no-await-in-loop
    const body = await readApi(`/credits/verify/${String(job['id'])}`);
    const data = isRecord(body) && isRecord(body['data']) ? body['data'] : {};
    if (data['status'] !== 'running' && data['status'] !== 'queued') return data;
    // eslint-disable-next-line no-await-in-loop
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return 'It still runs: look again later.';
}
