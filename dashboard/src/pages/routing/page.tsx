import { useModels } from '../../api/models.ts';
import { useId, type ReactElement } from 'react';
import { useExplanation } from '../../api/explain.ts';
import { useConsole } from '../../api/session.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { ExplanationView } from '../../parts/explanation/explanation.tsx';
import { Checkbox, Segments, TextField } from '../../parts/field.tsx';
import { KeySelect } from '../../parts/key-select.tsx';
import { Page as Frame, Section } from '../../parts/page.tsx';
import { useSearchState, type ChangeSearch } from '../../parts/search.ts';
import { toSnippet } from '../../parts/snippets.ts';
import { Empty, Load } from '../../parts/states.tsx';
import { differencesOf } from './differences.ts';
import { HealthTab } from './health-tab.tsx';
import { RoutersTab } from './routers-tab.tsx';
import { parseRoutingSearch, SORTS, toPretended, toRequest, type RoutingSearch } from './search.ts';

const TAB_LABELS = [
  { value: 'explain', label: 'Explain and what if' },
  { value: 'health', label: 'Health' },
  { value: 'routers', label: 'Routers' },
] as const;

/** Why there, and what if. */
export function Page(): ReactElement {
  const [search, change] = useSearchState(parseRoutingSearch);
  return (
    <Frame
      title="Routing"
      isFilled={search.tab !== 'explain'}
      bar={
        <Segments
          label="Part"
          value={search.tab}
          options={TAB_LABELS}
          onChange={(tab) => change({ tab: tab === 'explain' ? undefined : tab })}
        />
      }
    >
      {search.tab === 'explain' && <ExplainTab search={search} change={change} />}
      {search.tab === 'health' && <HealthTab />}
      {search.tab === 'routers' && <RoutersTab />}
    </Frame>
  );
}

interface TabProps {
  readonly search: RoutingSearch;
  readonly change: ChangeSearch;
}

function ExplainTab({ search, change }: TabProps): ReactElement {
  return (
    <div className="grid lg:grid-cols-[320px_minmax(0,1fr)] lg:divide-x lg:divide-line">
      <Controls search={search} change={change} />
      {search.model === '' ? (
        <Empty title="Which model?">
          <p>
            Name a model, and every endpoint that could serve it is here: in the order in which it would be tried, or
            with the reason why it would not.
          </p>
        </Empty>
      ) : (
        <Result search={search} change={change} />
      )}
    </div>
  );
}

function Controls({ search, change }: TabProps): ReactElement {
  const listId = useId();
  const models = useModels();
  const known = models.data ?? [];
  const set = (patch: Readonly<Record<string, string | undefined>>): void => change(patch, false);
  const flag = (name: string, isOn: boolean): void => set({ [name]: isOn ? 'true' : undefined });
  return (
    <Section title="The request">
      <div className="flex flex-col gap-3">
        <TextField
          label="Model or router"
          data-filter=""
          list={listId}
          value={search.model}
          spellCheck={false}
          placeholder="acme/one, service/auto"
          onChange={(event) => set({ model: event.target.value })}
        />
        <datalist id={listId}>
          {known.map(({ id }) => (
            <option key={id} value={id} />
          ))}
        </datalist>
        <KeySelect label="With the rules of key" value={search.key} none="Console" onChange={(key) => set({ key })} />
        <Segments
          label="Ordered by"
          value={search.sort}
          options={SORTS.map((value) => ({ value, label: value === '' ? 'balanced' : value }))}
          onChange={(sort) => set({ sort })}
        />
        <Slider
          label="Max price, USD per million"
          name="max_price"
          value={search.maxPrice}
          max={20}
          step={0.1}
          onChange={set}
        />
        <Slider
          label="Preferred first token, seconds"
          name="max_ttft"
          value={search.maxLatency}
          max={10}
          step={0.1}
          onChange={set}
        />
        <Slider
          label="Preferred tokens a second"
          name="min_tps"
          value={search.minThroughput}
          max={200}
          step={5}
          onChange={set}
        />
        <fieldset className="flex flex-col">
          <legend className="pb-1 text-xs font-medium text-dim">It needs</legend>
          <Checkbox
            label="tools"
            checked={search.needsTools}
            onChange={(event) => flag('tools', event.target.checked)}
          />
          <Checkbox
            label="a picture"
            checked={search.needsImage}
            onChange={(event) => flag('image', event.target.checked)}
          />
          <Checkbox
            label="zero data retention"
            checked={search.isZdr}
            onChange={(event) => flag('zdr', event.target.checked)}
          />
          <Checkbox
            label="no training on it"
            checked={search.isTrainingDenied}
            onChange={(event) => flag('deny', event.target.checked)}
          />
        </fieldset>
      </div>
    </Section>
  );
}

/** A preference with a range, and off at its left end. */
function Slider({
  label,
  name,
  value,
  max,
  step,
  onChange,
}: {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly max: number;
  readonly step: number;
  readonly onChange: (patch: Readonly<Record<string, string | undefined>>) => void;
}): ReactElement {
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className="flex justify-between text-xs font-medium text-dim">
        {label} <span className="font-mono">{value === '' ? 'off' : value}</span>
      </label>
      <input
        id={id}
        type="range"
        min={0}
        max={max}
        step={step}
        value={value === '' ? 0 : Number(value)}
        onChange={(event) => onChange({ [name]: event.target.value === '0' ? undefined : event.target.value })}
        className="h-7 w-full accent-accent-solid"
      />
    </div>
  );
}

function Result({ search, change }: TabProps): ReactElement {
  const body = toRequest(search);
  const { isOperator } = useConsole();
  const now = useExplanation({ ...body, ...(isOperator && toPretended(search)) });
  const plain = useExplanation(toRequest({ ...parseRoutingSearch({}), model: search.model }));
  return (
    <div className="min-w-0">
      <Section title="Where it would go">
        <Load of={now}>{(explanation) => <ExplanationView explanation={explanation} />}</Load>
      </Section>
      {plain.data !== undefined && isOperator && (
        <Pretend
          tags={[...new Set([...plain.data.candidates, ...plain.data.resting].map(({ tag }) => tag))]}
          search={search}
          change={change}
        />
      )}
      {now.data !== undefined && plain.data !== undefined && (
        <Section title="Changed by this, against the request without preferences">
          <ul>
            {differencesOf(plain.data, now.data).map((difference) => (
              <li key={difference}>{difference}</li>
            ))}
          </ul>
        </Section>
      )}
      <Section title="The same call">
        <CodeBlock
          label="curl"
          isWrapped
          text={toSnippet(
            { method: 'POST', path: '/route/explain', body: JSON.stringify(body) },
            'curl',
            location.origin,
            'GATEWAY_API_KEY',
          )}
        />
      </Section>
    </div>
  );
}

const STATES = [
  { value: '', label: 'as it is' },
  { value: 'down', label: 'down' },
  { value: 'resting', label: 'in cooldown' },
] as const;

/** Another health of each endpoint: nothing of it is kept. */
function Pretend({ tags, search, change }: TabProps & { readonly tags: readonly string[] }): ReactElement {
  const set = (tag: string, state: (typeof STATES)[number]['value']): void => {
    const listOf = (name: 'down' | 'resting'): string =>
      [...search[name].filter((other) => other !== tag), ...(state === name ? [tag] : [])].join(',');
    change({ down: listOf('down'), resting: listOf('resting') }, false);
  };
  return (
    <Section title="Pretend">
      <ul className="flex flex-wrap gap-x-6 gap-y-1">
        {tags.map((tag) => (
          <li key={tag} className="flex items-center gap-2">
            <span className="font-medium">{tag}</span>
            <Segments
              label={`Pretend that ${tag} is`}
              value={search.down.includes(tag) ? 'down' : search.resting.includes(tag) ? 'resting' : ''}
              options={STATES}
              onChange={(state) => set(tag, state)}
            />
          </li>
        ))}
      </ul>
    </Section>
  );
}
