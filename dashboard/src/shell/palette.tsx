import { useModels } from '../api/models.ts';
import { useNavigate } from '@tanstack/react-router';
import { useState, type KeyboardEvent, type ReactElement } from 'react';
import { useKeys } from '../api/lists.ts';
import { BareDialog } from '../parts/dialog.tsx';
import { Icon, type IconName } from '../parts/icon.tsx';
import { Kbd } from '../parts/button.tsx';
import { findCommands, type Command } from './commands.ts';

/** Finds pages, keys, models and actions; a pasted id opens what it names. */
export function Palette({
  isOpen,
  onClose,
  commands,
  isOperator,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly commands: readonly Command[];
  readonly isOperator: boolean;
}): ReactElement {
  return (
    <BareDialog label="Find" isOpen={isOpen} onClose={onClose}>
      <Finder onClose={onClose} commands={commands} isOperator={isOperator} />
    </BareDialog>
  );
}

function Finder({
  onClose,
  commands,
  isOperator,
}: {
  readonly onClose: () => void;
  readonly commands: readonly Command[];
  readonly isOperator: boolean;
}): ReactElement {
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const navigate = useNavigate();
  const things = useThings(isOperator);
  const found = findCommands(text, [...commands, ...things]);
  const run = (command: Command | undefined): void => {
    if (command === undefined) return;
    onClose();
    if (command.run !== undefined) command.run();
    else if (command.to !== undefined) void navigate({ to: command.to });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setActive(Math.min(found.length - 1, active + 1));
    else if (event.key === 'ArrowUp') setActive(Math.max(0, active - 1));
    else if (event.key === 'Enter') run(found[active]);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <div className="flex items-center gap-2 border-b border-line px-4">
        <Icon name="search" />
        <input
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={found[active] === undefined ? undefined : `command-${active}`}
          aria-label="Find a page, a key, a model, a request's id, or an action"
          placeholder="Find a page, a key, a model, a request's id …"
          autoFocus
          value={text}
          onKeyDown={onKeyDown}
          onChange={(event) => {
            setText(event.target.value);
            setActive(0);
          }}
          className="h-11 w-full bg-transparent text-base outline-none placeholder:text-dim"
        />
      </div>
      <ul id="palette-list" role="listbox" aria-label="Found" className="overflow-y-auto p-1.5">
        {found.map((command, at) => (
          <li
            key={`${command.kind} ${command.name} ${command.to ?? ''}`}
            id={`command-${at}`}
            role="option"
            aria-selected={at === active}
            onClick={() => run(command)}
            onMouseMove={() => setActive(at)}
            className="flex h-9 cursor-pointer items-center gap-3 rounded-md px-2.5 aria-selected:bg-hover"
          >
            <Icon name={iconOf(command)} />
            <span className="min-w-0 flex-1 truncate">{command.name}</span>
            <span className="text-xs text-dim">{command.kind}</span>
            {command.hotkey !== undefined && <Kbd>{command.hotkey}</Kbd>}
          </li>
        ))}
        {found.length === 0 && <li className="px-3 py-6 text-center text-dim">Nothing is called like that.</li>}
      </ul>
    </>
  );
}

function iconOf({ icon, kind }: Command): IconName {
  return icon ?? (kind === 'key' ? 'keys' : kind === 'model' ? 'models' : kind === 'request' ? 'requests' : 'chevron');
}

/** Keys and models, as commands that open them. */
function useThings(isOperator: boolean): readonly Command[] {
  const models = useModels();
  const keys = useKeys(isOperator);
  const modelList = models.data ?? [];
  return [
    ...(keys.data ?? []).map(({ name, label, hash }): Command => ({
      kind: 'key',
      name: `${name} ${label}`,
      to: `/ui/keys/${hash}`,
    })),
    ...modelList.map(({ id }): Command => ({ kind: 'model', name: id, to: `/ui/models/${id}` })),
  ];
}
