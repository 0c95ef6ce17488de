/** What both pages have around their content: skip link, header, navigation, main column, toasts. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { here, linkTo } from '../router.ts';
import { theme, toggleTheme } from '../theme.ts';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { Toasts } from '../ui/toast.tsx';
import { Logo } from './logo.tsx';
import { currentPage, type Page, PageContent } from './pages.tsx';
import '../ui/tokens.css';
import '../ui/base.css';
import '../ui/components.css';
import './shell.css';

export const Links = ({
  pages,
  children,
}: {
  readonly pages: readonly Page[];
  readonly children?: ComponentChildren;
}) => {
  const current = currentPage(pages);
  return (
    <ul class="links">
      {pages.map((page) => (
        <li key={page.name}>
          <a href={linkTo([page.name])} aria-current={page === current ? 'page' : undefined}>
            {page.title}
          </a>
        </li>
      ))}
      {children}
    </ul>
  );
};

export const Header = ({
  name,
  children,
  end,
}: {
  readonly name: string;
  readonly children?: ComponentChildren;
  readonly end?: ComponentChildren;
}) => (
  <header class="header">
    <a class="brand" href="#/">
      <Logo />
      {name}
    </a>
    {children}
    <div class="row end">
      {end}
      <Button kind="quiet" small onClick={toggleTheme}>
        {theme.value === 'dark' ? 'Light' : 'Dark'}
      </Button>
    </div>
  </header>
);

/** Moves the focus to the new page, as a load of a document would. */
export const Main = ({ pages, site }: { readonly pages: readonly Page[]; readonly site: string }) => {
  const page = currentPage(pages);
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  useEffect(() => {
    document.title = page === undefined || page === pages[0] ? site : `${page.title} · ${site}`;
    if (first.current) first.current = false;
    else main.current?.focus();
  }, [page, pages, site]);
  return (
    <main class="main" id="main" tabIndex={-1} ref={main}>
      {page === undefined ? (
        <Empty>There is no page “{here.value.page}”.</Empty>
      ) : (
        <PageContent page={page} key={page.name} />
      )}
    </main>
  );
};

export const Frame = ({ children }: { readonly children: ComponentChildren }) => (
  <>
    {/* The hash is the route: a link to the element would leave the page. */}
    <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
      Skip to content
    </button>
    {children}
    <Toasts />
  </>
);
