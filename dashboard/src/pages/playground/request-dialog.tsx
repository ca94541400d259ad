import { useState, type ReactElement } from 'react';
import type { Format } from '../../api/generation/response.ts';
import { pathOf } from '../../api/generation/stream.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Segments } from '../../parts/field.tsx';
import { LANGUAGES, toSnippet, type Language } from '../../parts/snippets.ts';
import type { Body } from './request/body.ts';

/** The request as a program would send it. */
export function RequestDialog({
  isOpen,
  onClose,
  format,
  body,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly format: Format;
  readonly body: Body;
}): ReactElement {
  const [language, setLanguage] = useState<Language>('curl');
  return (
    <Dialog title="The request of the first column" isOpen={isOpen} onClose={onClose} width="max-w-3xl">
      <div className="flex flex-col gap-3">
        <Segments
          label="Language"
          value={language}
          options={LANGUAGES.map((value) => ({ value, label: value }))}
          onChange={setLanguage}
        />
        <CodeBlock
          label="Request"
          isWrapped
          text={toSnippet(
            { method: 'POST', path: pathOf(format), body: JSON.stringify(body, undefined, 2) },
            language,
            location.origin,
            'GATEWAY_API_KEY',
          )}
        />
      </div>
    </Dialog>
  );
}
