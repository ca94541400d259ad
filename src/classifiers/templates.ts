import type { ClassifierDimension, Template } from '../resources/classifiers.ts';

interface TemplateTexts {
  readonly prompt: string;
  readonly dimensions: readonly ClassifierDimension[];
}

/** What a template fills in, which stays editable. */
export const TEMPLATE_TEXTS: Readonly<Record<Template, TemplateTexts>> = {
  department: {
    prompt:
      'Say which department of a company the conversation is most likely from, by its subject and not by its tone.',
    dimensions: [
      dimension('department', 'The department that the work belongs to.', {
        engineering: 'Software, infrastructure, data pipelines.',
        product: 'Specifications, roadmaps, design of products.',
        sales: 'Offers, prospects, contracts with customers.',
        marketing: 'Campaigns, texts for the public, brand.',
        support: 'Help for customers with a product.',
        finance: 'Accounting, budgets, forecasts.',
        legal: 'Contracts, compliance, privacy.',
        hr: 'Hiring, people, policies.',
        research: 'Studies, experiments, reading of papers.',
      }),
    ],
  },
  audience: {
    prompt: 'Say which audience the result of the conversation is meant for.',
    dimensions: [
      dimension('audience', 'The readers or users of the result.', {
        self: 'The person who asks.',
        team: 'Colleagues of that person.',
        customer: 'Customers or partners.',
        public: 'Anyone.',
        machine: 'A program, which processes the result.',
      }),
    ],
  },
  engineering_work: {
    prompt: 'Say what kind of engineering work the conversation does. Work that is no engineering is "other".',
    dimensions: [
      dimension('engineering_work', 'The kind of work.', {
        feature: 'New behaviour of a program.',
        bug_fix: 'A fault is found or mended.',
        refactoring: 'Code is changed, and its behaviour is not.',
        test: 'Tests are written or mended.',
        review: 'Code of another author is judged.',
        documentation: 'Texts about programs.',
        operations: 'Deployment, monitoring, incidents.',
        question: 'Something is explained.',
      }),
    ],
  },
  agent_complexity: {
    prompt: 'Judge how much an agent has to do for the task of the conversation.',
    dimensions: [
      dimension('agent_complexity', 'How many steps, and how open their way is.', {
        single_step: 'One reply without tools.',
        few_steps: 'A known way of a few calls of tools.',
        many_steps: 'A long way, which is mostly known.',
        open_ended: 'A long way, which has to be found.',
      }),
    ],
  },
  capitalizable_expense: {
    prompt:
      'Say whether the work of the conversation may be capitalized as development of software for own use: new programs or features may, maintenance, research before a decision and training may not.',
    dimensions: [
      dimension('capitalizable_expense', 'Whether the work makes an asset.', {
        capitalizable: 'Design, code and tests of a new program or feature.',
        expense: 'Maintenance, support, research, training, administration.',
        unclear: 'The conversation does not say.',
      }),
    ],
  },
};

function dimension(name: string, description: string, values: Readonly<Record<string, string>>): ClassifierDimension {
  return {
    name,
    description,
    values: Object.entries(values).map(([value, meaning]) => ({ value, description: meaning })),
  };
}
