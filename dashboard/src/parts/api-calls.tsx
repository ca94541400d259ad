import { useState, useSyncExternalStore, type ReactElement } from 'react';
import { readCalls, subscribeToCalls } from '../api/calls.ts';
import { IconButton } from './button.tsx';
import { CodeBlock } from './copy.tsx';
import { Dialog } from './dialog.tsx';
import { Segments } from './field.tsx';
import { LANGUAGES, toSnippet, type Language } from './snippets.ts';

/** `</>`: the calls that made this page, for programs that want the same. */
export function ApiCalls(): ReactElement {
  const [isOpen, setIsOpen] = useState(false);
  const [language, setLanguage] = useState<Language>('curl');
  const calls = useSyncExternalStore(subscribeToCalls, readCalls);
  return (
    <>
      <IconButton icon="code" label="The API calls of this page" onClick={() => setIsOpen(true)} />
      <Dialog title="The API calls of this page" isOpen={isOpen} onClose={() => setIsOpen(false)} width="max-w-3xl">
        <div className="flex flex-col gap-3">
          <Segments
            label="Language"
            value={language}
            options={LANGUAGES.map((value) => ({ value, label: value }))}
            onChange={setLanguage}
          />
          {calls.length === 0 && <p className="text-dim">This page made no call.</p>}
          {calls.map((call) => (
            <CodeBlock
              key={`${call.method} ${call.path} ${call.body ?? ''}`}
              label={`${call.method} ${call.path}`}
              text={toSnippet(call, language, location.origin)}
            />
          ))}
        </div>
      </Dialog>
    </>
  );
}
