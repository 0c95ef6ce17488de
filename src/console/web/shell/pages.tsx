/** The pages of a shell: their names, and the component of the one that is shown. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { here } from '../router.ts';
import { ErrorNote } from '../ui/error-note.tsx';
import { Loading } from '../ui/loading.tsx';

export interface Page {
  /** Of its hash route. */
  readonly name: string;
  readonly title: string;
  /** Loaded when it is first shown. */
  readonly load: () => Promise<{ readonly default: ComponentType }>;
}

export const currentPage = (pages: readonly Page[]): Page | undefined =>
  here.value.page === '' ? pages[0] : pages.find(({ name }) => name === here.value.page);

const loaded = new Map<Page, ComponentType>();

export const PageContent = ({ page }: { readonly page: Page }) => {
  const [, shown] = useState<Page>();
  const [failure, setFailure] = useState<unknown>();
  useEffect(() => {
    setFailure(undefined);
    page.load().then(
      ({ default: component }) => {
        loaded.set(page, component);
        shown(page);
      },
      (error: unknown) => setFailure(error),
    );
  }, [page]);
  const Component = loaded.get(page);
  if (Component !== undefined) return <Component />;
  return failure === undefined ? (
    <Loading />
  ) : (
    <ErrorNote error={failure} onRetry={() => window.location.reload()} />
  );
};
