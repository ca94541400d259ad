import { useModels } from '../../api/models.ts';
import { useId, useState, type ReactElement } from 'react';
import { Icon } from '../../parts/icon.tsx';
import { formatPerMillion } from '../../parts/money.ts';
import { Name } from '../../parts/text.tsx';

/** The models of the columns, each a chip, and a field that completes what may be added. */
export function ModelPicker({
  models,
  max,
  onChange,
}: {
  readonly models: readonly string[];
  readonly max: number;
  readonly onChange: (models: readonly string[]) => void;
}): ReactElement {
  const [text, setText] = useState('');
  const listId = useId();
  const all = useModels();
  const known = all.data ?? [];
  const add = (model: string): void => {
    if (model !== '' && !models.includes(model) && models.length < max) onChange([...models, model]);
    setText('');
  };
  return (
    <>
      {models.map((model) => (
        <span key={model} className="inline-flex h-7 items-center gap-1 rounded-md bg-chosen pl-2.5 font-medium">
          <Name>{model}</Name>
          <button
            type="button"
            aria-label={`Take ${model} away`}
            disabled={models.length === 1}
            onClick={() => onChange(models.filter((other) => other !== model))}
            className="inline-flex size-7 items-center justify-center rounded disabled:opacity-30"
          >
            <Icon name="close" size={12} />
          </button>
        </span>
      ))}
      {models.length < max && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            add(text.trim());
          }}
        >
          <input
            list={listId}
            aria-label="Add a model"
            placeholder={models.length === 1 ? '+ model, or another one' : '+ model'}
            value={text}
            spellCheck={false}
            onChange={(event) => {
              setText(event.target.value);
              // A chosen entry of the list comes as a change without a key.
              if (known.some(({ id }) => id === event.target.value)) add(event.target.value);
            }}
            className="h-7 w-56 rounded-md border border-line bg-page px-2 placeholder:text-dim"
          />
          <datalist id={listId}>
            {known.map(({ id, pricing }) => (
              <option
                key={id}
                value={id}
                label={`${formatPerMillion(pricing.prompt)} in, ${formatPerMillion(pricing.completion)} out`}
              />
            ))}
          </datalist>
        </form>
      )}
    </>
  );
}
