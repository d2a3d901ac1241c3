import type { FastifyReply } from 'fastify';
import { may } from '../../auth/roles.ts';
import type { Context } from '../../context.ts';
import { refuse } from '../../errors.ts';
import { formatFiat } from '../../lib/money.ts';
import { countryName } from '../../lib/text/countries.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { setMerchantDisabled } from '../../merchants/disable.ts';
import { onboardingUrl } from '../../merchants/onboarding-token.ts';
import { type MerchantView, readMerchant } from '../../merchants/read.ts';
import { MerchantRefusal, refusalToShow } from '../../merchants/refusal.ts';
import { offersReset, resetOnboarding } from '../../onboarding/reset.ts';
import { type MerchantVolume, readMerchantVolume, recentDays } from '../../requests/lists/merchant-volume.ts';
import { commonTexts } from '../../texts/common.ts';
import { dashboardTexts } from '../../texts/dashboard.ts';
import { portalTexts } from '../../texts/portal.ts';
import { checksummed } from '../../ui/address.ts';
import { card, descriptionList, fullAddress, shortAddress, stateLine } from '../../ui/components.ts';
import { copyable, copyableFact } from '../../ui/copyable.ts';
import { confirmButton } from '../../ui/form.ts';
import { instant } from '../../ui/formats.ts';
import { fill, fillCount, fillHtml, type Words } from '../../ui/language.ts';
import { cancelRecovery, readOpenRecovery, startRecovery, type WalletChange } from '../../wallets/recovery.ts';
import { flashOf } from '../../web/flash.ts';
import { notice } from '../../web/shell.ts';
import { type Column, table } from '../../web/table.ts';
import { merchantEventsPath } from '../live.ts';
import { sendOtherMode } from '../other-mode.ts';
import { actionIn, type PortalCall, type PortalPages } from '../route.ts';
import { sendPortal } from '../shell.ts';
import { merchantBadges, merchantName } from './merchants.ts';

const path = '/portal/merchants';
const own = `${path}/:account_id`;

/** `/portal/merchants/<account_id>`: one merchant, its invitation, and what its partner can do with it. */
export function merchantDetail(pages: PortalPages, ctx: Context): void {
  // If the response to a form is the page itself, the browser keeps the form's address, so the page must be there too.
  for (const address of [own, `${own}/recover`]) {
    pages.page({ url: address, permission: 'read' }, async (call) => {
      const id = call.param('account_id').toLowerCase();
      const merchant = await readMerchant(ctx, call.scope, id);
      if (!merchant) return sendOtherMode(ctx, call, `${path}/${id}`, (other) => readMerchant(ctx, other, id));
      return showMerchant(ctx, call, merchant, null);
    });
  }

  const flip = (disabled: boolean) =>
    pages.form(
      { url: `${own}/${disabled ? 'disable' : 'enable'}`, permission: 'merchants.disable', fresh: 'never' },
      async (call) => {
        const { scope } = call;
        const { id } = await mustRead(ctx, call);
        await setMerchantDisabled(ctx, call.actor, scope, { accountId: id, by: 'partner', disabled });
        return call.done(`${path}/${id}`, disabled ? 'disabled' : 'enabled');
      },
    );
  flip(true);
  flip(false);

  pages.form({ url: `${own}/reset`, permission: 'merchants.reset', fresh: 'always' }, async (call) => {
    const { scope } = call;
    const { id } = await mustRead(ctx, call);
    const isReset = await resetOnboarding(ctx, call.actor, scope, id);
    return call.done(`${path}/${id}`, isReset ? 'reset' : 'has_money');
  });

  pages.form({ url: `${own}/recover`, permission: 'merchants.recover', fresh: 'always' }, async (call) => {
    const { scope } = call;
    const merchant = await mustRead(ctx, call);
    const { id } = merchant;
    const started = await startRecovery(ctx, call.actor, scope, id).catch(refusalToShow);
    if (started instanceof MerchantRefusal) {
      const isTooOften = started.reason === 'too_many_attempts';
      return call.done(`${path}/${id}`, isTooOften ? 'recovered_too_often' : 'no_recovery');
    }
    return showMerchant(ctx, call, merchant, started.url);
  });

  pages.form({ url: `${own}/recover/cancel`, permission: 'merchants.recover', fresh: 'never' }, async (call) => {
    const { scope } = call;
    const { id } = await mustRead(ctx, call);
    const isCancelled = await cancelRecovery(ctx, call.actor, scope, id);
    return call.done(`${path}/${id}`, isCancelled ? 'recovery_cancelled' : 'no_recovery');
  });
}

async function mustRead(ctx: Context, { scope, param }: PortalCall): Promise<MerchantView> {
  const merchant = await readMerchant(ctx, scope, param('account_id'));
  if (!merchant) throw refuse('not_found');
  return merchant;
}

async function showMerchant(
  ctx: Context,
  call: PortalCall,
  merchant: MerchantView,
  recoveryUrl: string | null,
): Promise<FastifyReply> {
  const { words, scope, mode, user, reply } = call;
  const { merchants } = portalTexts(words);
  const [recovery, volume, isResettable] = await Promise.all([
    readOpenRecovery(ctx, scope, merchant.id),
    readMerchantVolume(ctx, scope, merchant.id),
    may(user, 'merchants.reset', mode) && offersReset(ctx, scope, merchant.id),
  ]);
  const invitation = merchant.onboarded_at === null && may(user, 'merchants.invite', mode);
  return sendPortal(ctx, reply, call, {
    path: `${path}/${merchant.id}`,
    otherModePath: path,
    title: merchantName(words, merchant),
    body: html`
      <p><a href="${path}">${merchants.back}</a></p>
      ${flashOf(call, merchants)}
      ${
        recoveryUrl !== null &&
        card(
          html`<div role="status">${stateLine('paid', merchants.recoveryMade, merchants.recoveryMadeRest)}</div>`,
          copyable(words, merchants.recoveryLink, recoveryUrl, merchants.copyLink),
        )
      }
      <div class="list" data-live="${merchantEventsPath(mode, merchant.id)}" data-region="merchant">
        <div class="row">${merchantBadges(words, merchant)}</div>
        ${merchant.disabled_by_operator && notice('attention', merchants.operatorOff)}
        ${
          merchant.displaced_at !== null &&
          notice(
            'attention',
            fill(merchants.displaced, {
              wallet: checksummed(merchant.displaced_wallet ?? ''),
            }),
          )
        }
        <div class="two">
          ${factCard(words, merchant)}
          <div class="section">
            ${volumeCard(words, volume)}
            ${invitation && inviteCard(ctx, words, merchant)}
            ${recovery && recoveryCard(words, recovery)}
            ${acts(call, merchant, recovery, isResettable)}
          </div>
        </div>
      </div>
    `,
  });
}

function factCard(words: Words, row: MerchantView): Html {
  const { profile } = dashboardTexts(words);
  const { merchants, places } = portalTexts(words);
  const text = (name: string, value: string | null): [string, Html] | null =>
    value === null ? null : [name, html`<span dir="auto">${value}</span>`];
  return card(
    descriptionList([
      copyableFact(words, merchants.number, row.id),
      text(merchants.fields.business_name, row.business_name),
      text(merchants.fields.display_name, row.display_name),
      text(merchants.email, row.email),
      text(merchants.phone, row.phone),
      text(merchants.website, row.website),
      text(profile.instagram, row.instagram),
      text(profile.industry, row.industry),
      text(merchants.fields.country, row.country && countryName(words.language, row.country)),
      [merchants.fields.app_mode, merchants.appModes[row.app_mode]],
      [merchants.currency, row.display_currency],
      row.wallet_address === null ? null : copyableFact(words, merchants.wallet, checksummed(row.wallet_address)),
      [merchants.createdAt, instant(words, row.created_at)],
      row.onboarded_at && [merchants.onboardedAt, instant(words, row.onboarded_at)],
      termsFact(words, row),
    ]),
    html`
      <p>
        <a href="/portal/requests?account_id=${row.id}">${places.requests}</a>
        ${' · '}
        <a href="/portal/unmatched?account_id=${row.id}">${places.unmatched}</a>
        ${' · '}
        <a href="/portal/plans?account_id=${row.id}">${places.plans}</a>
      </p>
    `,
  );
}

/** The merchant's paid amounts, by currency. */
function volumeCard(words: Words, volume: MerchantVolume[]): Html {
  const { volume: t } = portalTexts(words).merchants;
  const sum = (code: string, { fiatInt, payments }: MerchantVolume['all']) => html`
    <div>
      <p>${formatFiat(fiatInt, code, words.language)}</p>
      <p class="quiet">${fillCount(words, commonTexts(words).common.payments, payments)}</p>
    </div>
  `;
  const columns: Column<MerchantVolume>[] = [
    { name: t.currency, cell: ({ code }) => code },
    { name: fill(t.recent, { count: recentDays }), figures: true, cell: ({ code, recent }) => sum(code, recent) },
    { name: t.all, figures: true, cell: ({ code, all }) => sum(code, all) },
  ];
  return card(
    html`<h2>${t.title}</h2>`,
    volume.length > 0 ? table(t.title, columns, volume) : html`<p class="quiet">${t.none}</p>`,
  );
}

function termsFact(words: Words, { terms_version, terms_accepted_at }: MerchantView): [string, Html] | null {
  if (terms_version === null || terms_accepted_at === null) return null;
  const { terms, termsVersion } = dashboardTexts(words);
  return [terms, fillHtml(termsVersion, { version: html`${terms_version}`, time: instant(words, terms_accepted_at) })];
}

function inviteCard(ctx: Context, words: Words, merchant: MerchantView): Html {
  const { merchants } = portalTexts(words);
  const url = onboardingUrl(ctx.config, merchant, ctx.clock.now());
  const rest =
    merchant.email === null ? merchants.inviteNoEmail : fill(merchants.inviteEmail, { email: merchant.email });
  return card(
    html`<h2>${merchants.invite}</h2>`,
    html`<p class="quiet">${merchants.inviteRest} ${rest}</p>`,
    copyable(words, merchants.inviteLink, url, merchants.copyLink),
    merchant.email !== null && html`<p class="quiet">${wrongEmail(words, merchant)}</p>`,
  );
}

/** The way out when the partner gave a wrong address: it is never changed, and a reset keeps it. */
function wrongEmail(words: Words, { wallet_address: wallet }: MerchantView): Html {
  const { inviteEmailWrong, inviteWalletHeld, acts } = portalTexts(words).merchants;
  if (wallet === null) return html`${inviteEmailWrong}`;
  const held = fillHtml(inviteWalletHeld, { wallet: shortAddress(wallet), restart: html`${acts.reset.label}` });
  return html`${inviteEmailWrong} ${held}`;
}

function recoveryCard(words: Words, { state, due_at, link_until, new_wallet }: WalletChange): Html {
  const { merchants } = portalTexts(words);
  const until = state === 'signed' ? due_at : link_until;
  const title = state === 'signed' ? merchants.recoverySigned : merchants.recoveryOpen;
  const rest = state === 'signed' ? merchants.recoverySignedRest : merchants.recoveryOpenRest;
  return card(
    stateLine('waiting', title, html`${rest} ${until && instant(words, until)}`),
    new_wallet !== null && descriptionList([[merchants.newWallet, fullAddress(new_wallet)]]),
  );
}

/**
 * The acts that the user may do with this merchant. Each asks for confirmation.
 *
 * @param isResettable whether onboarding can be restarted, as far as is known
 */
function acts(
  call: PortalCall,
  merchant: MerchantView,
  recovery: WalletChange | null,
  isResettable: boolean,
): Html | null {
  const { words, user, mode } = call;
  const { merchants } = portalTexts(words);
  const name = merchantName(words, merchant);
  const act = (key: keyof typeof merchants.acts, to: string, danger = false) => {
    const { label, title, rest } = merchants.acts[key];
    const action = actionIn(call, `${path}/${merchant.id}/${to}`);
    const asked = {
      label,
      title: fill(title, { name }),
      consequence: rest,
      action,
      ...(danger && { danger: true as const }),
    };
    return confirmButton(asked, null);
  };
  const isOnboarded = merchant.onboarded_at !== null;
  const list = [
    may(user, 'merchants.disable', mode) &&
      (merchant.disabled_by_partner ? act('enable', 'enable') : act('disable', 'disable', true)),
    may(user, 'merchants.recover', mode) && isOnboarded && recovery?.state !== 'signed' && act('recover', 'recover'),
    may(user, 'merchants.recover', mode) && recovery && act('cancelRecovery', 'recover/cancel'),
    may(user, 'merchants.reset', mode) &&
      (isResettable ? act('reset', 'reset', true) : html`<p class="quiet">${merchants.resetNever}</p>`),
  ].filter(Boolean);
  return list.length > 0 ? card(html`<h2>${merchants.actsTitle}</h2>`, html`${list}`) : null;
}
