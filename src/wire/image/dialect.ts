/** In what one host of OpenAI's form differs from the next, as data. */
export interface ImageDialect {
  /** The word of `response_format` for base64. Absent: that is what comes, and the member is refused. */
  readonly base64Word?: string;
  /** How the size is sent: `size`, `width` and `height`, or `aspect_ratio` and `resolution`. Absent: `size`. */
  readonly geometry?: 'size' | 'sides' | 'ratio';
  /** The ratios that it has words for, where ratios are sent. */
  readonly ratios?: readonly string[];
  /** The words of its tiers, where tiers are sent. */
  readonly tiers?: Readonly<Record<string, string>>;
  /** How it is given pictures: a form at `/images/edits`, JSON there, or the member `image_url`. Absent: the form. */
  readonly edits?: 'form' | 'json' | 'image_url';
  /** Optional members that it takes. Absent: all. */
  readonly members?: ReadonlySet<string>;
  /** It obeys settings in the prompt, between `<sd_cpp_extra_args>`: they are taken out, since callers are not its operator. */
  readonly readsPromptTag?: true;
}
