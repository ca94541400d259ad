import { useState, type ReactElement, type ReactNode } from 'react';
import { useModels } from '../../api/models.ts';
import { Badge } from '../../parts/badge.tsx';
import { LinkButton } from '../../parts/button.tsx';
import { Page as Frame } from '../../parts/page.tsx';
import { ConnectStep } from './connect-step.tsx';
import { KeyStep, type MadeKey } from './key-step.tsx';
import { ProviderStep } from './provider-step.tsx';
import { TestStep } from './test-step.tsx';

const SANDBOX = 'sandbox/echo';

/** From nothing to an served call and the settings of a client. */
export function Page(): ReactElement {
  const models = useModels();
  const [chosen, setChosen] = useState<string>();
  const [isTested, setIsTested] = useState(false);
  const [key, setKey] = useState<MadeKey>();
  const real = (models.data ?? []).filter(({ id }) => !id.startsWith('sandbox/'));
  const model = chosen ?? real[0]?.id ?? SANDBOX;
  return (
    <Frame
      title="First run"
      lead="four steps, each of which can be skipped"
      actions={<LinkButton to="/">Leave</LinkButton>}
    >
      <Step
        number={1}
        title="Connect a provider"
        state={real.length > 0 ? `${real.length} models are there` : undefined}
      >
        <ProviderStep />
      </Step>
      <Step number={2} title="Call a model" state={isTested ? 'it responded' : undefined}>
        <TestStep model={model} models={models.data ?? []} onModel={setChosen} onServed={() => setIsTested(true)} />
      </Step>
      <Step
        number={3}
        title="Make a key for your program"
        state={key === undefined ? undefined : `“${key.name}” is made`}
      >
        <KeyStep made={key} onMade={setKey} />
      </Step>
      <Step number={4} title="Point your program at the gateway">
        <ConnectStep apiKey={key} model={model} />
      </Step>
    </Frame>
  );
}

function Step({
  number,
  title,
  state,
  children,
}: {
  readonly number: number;
  readonly title: string;
  readonly state?: string | undefined;
  readonly children: ReactNode;
}): ReactElement {
  return (
    <section aria-label={`Step ${number}: ${title}`} className="border-b border-line bg-surface px-4 py-4">
      <div className="mb-3 flex items-center gap-3">
        <span
          aria-hidden="true"
          className={`inline-flex size-7 items-center justify-center rounded-full text-xs font-semibold ${state === undefined ? 'bg-hover text-dim' : 'bg-good-soft text-good'}`}
        >
          {number}
        </span>
        <h2 className="text-base font-semibold">{title}</h2>
        {state !== undefined && <Badge tone="good">{state}</Badge>}
      </div>
      <div className="max-w-3xl sm:pl-9">{children}</div>
    </section>
  );
}
