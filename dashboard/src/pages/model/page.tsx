import { useParams } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { useAnalytics } from '../../api/analytics.ts';
import { toBuckets } from '../../api/buckets.ts';
import { client } from '../../api/client.ts';
import { useModels, type Model } from '../../api/models.ts';
import { useRead } from '../../api/read.ts';
import { LinkButton, To } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { formatCompact, formatCount, formatPerMillion, formatUsdShort } from '../../parts/money.ts';
import { Facts, Page as Frame, Section, Stat, Stats } from '../../parts/page.tsx';
import { RangeSelect } from '../../parts/selects/range-select.tsx';
import { useSearchState } from '../../parts/search.ts';
import { toSnippet } from '../../parts/snippets.ts';
import { Load } from '../../parts/states.tsx';
import { Name, useNow } from '../../parts/text.tsx';
import { TimeChart } from '../../parts/time-chart.tsx';
import { boundsOf, granularityOf, RANGE_LABELS } from '../../parts/time.ts';
import { Endpoints } from './endpoints.tsx';
import { parseModelSearch } from './search.ts';
import { Sources } from './sources.tsx';

/** One model: its endpoints, their prices, and how well they run. */
export function Page(): ReactElement {
  const { author = '', slug = '' } = useParams({ strict: false });
  const id = `${author}/${slug}`;
  const models = useModels();
  const model = models.data?.find((one) => one.id === id);
  const endpoints = useRead(['endpoints', id], async (signal) => ({
    data: (await client.GET('/models/{author}/{slug}/endpoints', { signal, params: { path: { author, slug } } })).data
      ?.data,
  }));
  return (
    <Frame
      documentTitle={id}
      title={
        <>
          <To to="/ui/models" className="text-dim hover:underline">
            Models
          </To>
          <span className="text-dim">/</span>
          <Name>{id}</Name>
        </>
      }
      actions={
        <>
          <LinkButton to="/ui/playground" search={{ models: id }} icon="playground" look="primary">
            Ask it
          </LinkButton>
          <LinkButton to="/ui/routing" search={{ model: id }} icon="routing">
            Explain
          </LinkButton>
          <LinkButton to="/ui/requests" search={{ model: id }} icon="requests">
            Requests
          </LinkButton>
        </>
      }
    >
      {model !== undefined && <Figures model={model} />}
      <Section title="Endpoints, as they are" isFlush>
        <Load of={endpoints}>{({ endpoints: list }) => <Endpoints endpoints={list} />}</Load>
      </Section>
      <Use id={id} />
      {model !== undefined && <About model={model} />}
      <Sources author={author} slug={slug} />
    </Frame>
  );
}

function Figures({ model }: { readonly model: Model }): ReactElement {
  return (
    <Stats>
      <Stat label="In" hint="USD per million tokens">
        {formatPerMillion(model.pricing.prompt)}
      </Stat>
      <Stat label="Out" hint="USD per million tokens">
        {formatPerMillion(model.pricing.completion)}
      </Stat>
      <Stat label="Cached in" hint="USD per million tokens">
        {formatPerMillion(model.pricing.input_cache_read)}
      </Stat>
      <Stat label="Context" hint="tokens">
        {model.context_length === null ? '–' : formatCompact(model.context_length)}
      </Stat>
      <Stat label="Most out" hint="tokens">
        {model.top_provider.max_completion_tokens === null
          ? '–'
          : formatCompact(model.top_provider.max_completion_tokens)}
      </Stat>
    </Stats>
  );
}

function Use({ id }: { readonly id: string }): ReactElement {
  const [{ range }, change] = useSearchState(parseModelSearch);
  const bounds = boundsOf(range, useNow());
  const granularity = granularityOf(range);
  const result = useAnalytics({
    metrics: ['request_count', 'error_count', 'total_usage', 'ttft_p50', 'ttft_p95'],
    granularity,
    range: bounds,
    filters: [{ field: 'model', operator: 'eq', value: id }],
  });
  const series = (
    metric: string,
    name: string,
    color?: string,
  ): { readonly name: string; readonly values: readonly number[]; readonly color?: string } => ({
    name,
    values: toBuckets(result.data?.rows ?? [], { granularity, range: bounds, metric }).series[0]?.values ?? [],
    ...(color !== undefined && { color }),
  });
  const { times } = toBuckets([], { granularity, range: bounds, metric: '' });
  return (
    <Load of={result} rows={4}>
      {() => (
        <div className="grid lg:grid-cols-2 lg:divide-x lg:divide-line">
          <Section
            title="Requests"
            actions={
              <RangeSelect value={range} onChange={(next) => change({ range: next === '7d' ? undefined : next })} />
            }
          >
            <TimeChart
              title={`Requests of the model, ${RANGE_LABELS[range]}`}
              kind="bars"
              times={times}
              series={[series('request_count', 'requests'), series('error_count', 'errors', '--color-bad')]}
            />
          </Section>
          <Section title="Spend">
            <TimeChart
              title={`Spend on the model in USD, ${RANGE_LABELS[range]}`}
              times={times}
              series={[series('total_usage', 'USD')]}
              format={formatUsdShort}
            />
          </Section>
        </div>
      )}
    </Load>
  );
}

function About({ model }: { readonly model: Model }): ReactElement {
  const body = JSON.stringify({ model: model.id, messages: [{ role: 'user', content: 'Hello' }] });
  return (
    <>
      <Section title="About">
        {model.description !== '' && <p className="mb-3 max-w-prose">{model.description}</p>}
        <Facts
          of={[
            ['Name', <Name key="name">{model.name}</Name>],
            [
              'Permanent name',
              <span key="slug" className="font-mono text-xs">
                {model.canonical_slug}
              </span>,
            ],
            ['Takes', model.architecture.input_modalities.join(', ')],
            ['Gives', model.architecture.output_modalities.join(', ')],
            ['Knows until', model.knowledge_cutoff ?? 'unknown'],
            ['Ends', model.expiration_date ?? 'no date is known'],
            ['Parameters', model.supported_parameters.join(', ')],
            [
              'Scores',
              model.benchmarks === undefined
                ? 'none'
                : model.benchmarks.scores.map(({ metric, score }) => `${metric} ${formatCount(score)}`).join(', '),
            ],
          ]}
        />
      </Section>
      <Section title="Ask it from a program">
        <CodeBlock
          label="curl"
          text={toSnippet(
            { method: 'POST', path: '/chat/completions', body },
            'curl',
            location.origin,
            'GATEWAY_API_KEY',
          )}
        />
      </Section>
    </>
  );
}
