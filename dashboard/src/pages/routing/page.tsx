import { useModels } from '../../api/models.ts';
import { useId, type ReactElement } from 'react';
import { useExplanation } from '../../api/explain.ts';
import { useConsole } from '../../api/session.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { ExplanationView } from '../../parts/explanation/explanation.tsx';
import { Checkbox, Segments, TextField } from '../../parts/field.tsx';
import { KeySelect } from '../../parts/selects/key-select.tsx';
import { Page as Frame, Section } from '../../parts/page.tsx';
import { useSearchState, type ChangeSearch } from '../../parts/search.ts';
import { toSnippet } from '../../parts/snippets.ts';
import { Empty, Load } from '../../parts/states.tsx';
import { BacktestTab } from './backtest-tab.tsx';
import { differencesOf } from './differences.ts';
import { HealthTab } from './health-tab.tsx';
import { Preferences } from './preferences.tsx';
import { RoutersTab } from './routers-tab.tsx';
import { parseRoutingSearch, toPretended, toRequest, type RoutingSearch } from './search.ts';

const TAB_LABELS = [
  { value: 'explain', label: 'Explain and what if' },
  { value: 'health', label: 'Health' },
  { value: 'routers', label: 'Routers' },
  { value: 'backtest', label: 'Backtest' },
] as const;

/** Why there, and what if. */
export function Page(): ReactElement {
  const [search, change] = useSearchState(parseRoutingSearch);
  return (
    <Frame
      title="Routing"
      isFilled={search.tab === 'health' || search.tab === 'routers'}
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
      {search.tab === 'backtest' && <BacktestTab search={search} change={change} />}
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
  const flag = (name: string, isOn: boolean): void => change({ [name]: isOn ? 'true' : undefined });
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
          onChange={(event) => change({ model: event.target.value }, false)}
        />
        <datalist id={listId}>
          {known.map(({ id }) => (
            <option key={id} value={id} />
          ))}
        </datalist>
        <KeySelect
          label="With the rules of key"
          value={search.key}
          none="Console"
          onChange={(key) => change({ key })}
        />
        <Preferences search={search} change={change} />
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
        </fieldset>
      </div>
    </Section>
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
          tags={[...new Set([...plain.data.candidates, ...plain.data.resting].map(({ tag }) => tag))].toSorted()}
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
    change({ down: listOf('down'), resting: listOf('resting') });
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
