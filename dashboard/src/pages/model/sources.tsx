import { useState, type ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useRead } from '../../api/read.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Section } from '../../parts/page.tsx';
import { Load } from '../../parts/states.tsx';
import { Name } from '../../parts/text.tsx';

/** The typed client leaves out a member of any type. */
type Fact = Omit<Schemas['ModelFact'], 'value'> & { readonly value?: unknown };

const LAYERS: Readonly<Record<Fact['layer'], string>> = {
  library: 'a library of prices',
  list: 'the public list',
  project: 'files of the project',
  configuration: 'your configuration',
};

/** Where each fact about a model comes from, and since when. Read when it is wanted: few look at it. */
export function Sources({ author, slug }: { readonly author: string; readonly slug: string }): ReactElement {
  const [isOpen, setIsOpen] = useState(false);
  const sources = useRead(
    ['model-sources', author, slug],
    (signal) => client.GET('/model/{author}/{slug}/sources', { signal, params: { path: { author, slug } } }),
    { enabled: isOpen },
  );
  return (
    <Section
      title="Where its facts come from"
      actions={
        <Button aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          {isOpen ? 'Hide' : 'Show'}
        </Button>
      }
    >
      {!isOpen ? (
        <p className="text-dim">Each price, limit and ability with its source and date.</p>
      ) : (
        <Load of={sources} rows={4}>
          {({ data }) => (
            <>
              {data.unreviewed && (
                <p role="note" className="mb-2 text-warn">
                  No person of the project has reviewed these facts.
                </p>
              )}
              <FactTable title="The model" facts={data.facts} />
              {data.endpoints.map((endpoint) => (
                <FactTable
                  key={`${endpoint.provider} ${endpoint.model}`}
                  title={`${endpoint.provider}: ${endpoint.model}`}
                  isUnusable={!endpoint.usable}
                  facts={endpoint.facts}
                />
              ))}
            </>
          )}
        </Load>
      )}
    </Section>
  );
}

function FactTable({
  title,
  facts,
  isUnusable = false,
}: {
  readonly title: string;
  readonly facts: readonly Fact[];
  readonly isUnusable?: boolean;
}): ReactElement {
  return (
    <div className="mb-3 overflow-x-auto" role="region" aria-label={title} tabIndex={0}>
      <table className="w-full text-left">
        <caption className="py-1 text-left font-medium">
          <Name>{title}</Name> {isUnusable && <Badge tone="dim">no credentials here</Badge>}
        </caption>
        <thead>
          <tr className="border-b border-line text-xs text-dim">
            <th className="py-1 pr-4 font-normal">Fact</th>
            <th className="py-1 pr-4 font-normal">Value</th>
            <th className="py-1 pr-4 font-normal">From</th>
            <th className="py-1 font-normal">As of</th>
          </tr>
        </thead>
        <tbody>
          {facts.map(({ member, value, layer, source, date }) => (
            <tr key={`${member} ${layer} ${source}`} className="border-b border-line align-top">
              <td className="py-1 pr-4">{member}</td>
              <td className="max-w-80 py-1 pr-4 font-mono text-xs break-words">
                <Name>{typeof value === 'string' ? value : JSON.stringify(value)}</Name>
              </td>
              <td className="py-1 pr-4 text-dim">
                {LAYERS[layer]}: <Name>{source}</Name>
              </td>
              <td className="py-1 whitespace-nowrap text-dim">{date ?? 'as configured'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
