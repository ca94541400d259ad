import type { ReactElement } from 'react';
import { Select, TextArea } from '../../parts/field.tsx';
import { NumberField } from '../../parts/number-field.tsx';
import { EFFORTS, problemOfMore, problemOfTools, SORTS, TOKEN_RULES, type Settings } from './request/settings.ts';

const EFFORT_OPTIONS = EFFORTS.map((value) => ({ value, label: value === '' ? 'as the model has it' : value }));
const SORT_OPTIONS = SORTS.map((value) => ({ value, label: value === '' ? 'balanced' : value }));

/** Settings of every column. */
export function SettingsPanel({
  settings,
  onChange,
}: {
  readonly settings: Settings;
  readonly onChange: (settings: Settings) => void;
}): ReactElement {
  const set = (patch: Partial<Settings>): void => onChange({ ...settings, ...patch });
  return (
    <div className="grid max-h-[45vh] gap-3 overflow-y-auto border-b border-line bg-surface p-4 lg:grid-cols-2">
      <TextArea
        label="System"
        rows={4}
        value={settings.system}
        onChange={(event) => set({ system: event.target.value })}
      />
      <TextArea
        label="Functions, as JSON"
        rows={4}
        className="font-mono text-xs"
        spellCheck={false}
        placeholder='[{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]'
        value={settings.tools}
        error={problemOfTools(settings.tools)}
        onChange={(event) => set({ tools: event.target.value })}
      />
      <TextArea
        label="More of the body, as JSON"
        rows={3}
        className="font-mono text-xs"
        spellCheck={false}
        placeholder='{"provider": {"data_collection": "deny"}, "plugins": [{"id": "web"}]}'
        value={settings.more}
        error={problemOfMore(settings.more)}
        onChange={(event) => set({ more: event.target.value })}
      />
      <div className="grid grid-cols-2 gap-3">
        <NumberField
          label="Temperature"
          placeholder="default"
          value={settings.temperature}
          onChange={(temperature) => set({ temperature })}
        />
        <NumberField
          label="Most tokens out"
          {...TOKEN_RULES}
          placeholder="default"
          value={settings.maxTokens}
          onChange={(maxTokens) => set({ maxTokens })}
        />
        <Select
          label="Reasoning"
          options={EFFORT_OPTIONS}
          value={settings.effort}
          onChange={(effort) => set({ effort })}
        />
        <Select
          label="Providers ordered by"
          options={SORT_OPTIONS}
          value={settings.sort}
          onChange={(sort) => set({ sort })}
        />
      </div>
    </div>
  );
}
