import type { CommonTexts } from '../common.ts';

export const ja: CommonTexts<'ja'> = {
  common: {
    testMode: 'テストモード。',
    testModeRest: 'このページで実際のお金は動きません。',
    language: '言語',
    lessThanAMinute: '1 分未満',
    copy: 'コピー',
    copied: 'コピーしました',
    qrCode: 'QR コード',
    titleAndRest: '{title}。{rest}',
    sentence: '{text}。',
    rate: '1 USDC = {rate}',
    payments: { other: '支払い {count} 件' },
    confirmations: { other: '{count} 回中 {seen} 回承認されました' },
    every: {
      day: '毎日',
      week: '毎週',
      month: '毎月',
      year: '毎年',
    },
    everyMany: {
      day: '{period}ごと',
      week: '{period}ごと',
      month: '{period}ごと',
      year: '{period}ごと',
    },
  },
  app: {
    navigation: 'ページ',
    pages: 'この一覧のページ',
    first: '最新に戻る',
    next: '以前のもの',
    apply: '表示',
    reset: 'すべて表示',
    all: 'すべて',
    csv: 'CSV をダウンロード',
    test: 'テスト',
    live: '本番',
    mode: 'モード',
    signOut: 'サインアウト',
    figures: '数値を表示',
    chartOf: 'グラフ：{title}',
  },
  errors: {
    notFound: 'ここには何もありません',
    notFoundRest:
      'リンクが途中で切れている可能性があります。送られてきたとおりにもう一度開くか、送った人に新しいリンクを依頼してください。',
    home: '概要に戻る',
    trouble: '当サービスで問題が起きています',
    troubleRest:
      '原因は当サービスにあり、これによってお金は動いていません。すでに送った支払いはチェーン上にあり、必ず見つかります。1 分後にもう一度お試しください。',
    failed: 'うまくいきませんでした',
    malformed: '読み取れませんでした',
    malformedRest:
      'テキストに使えない文字が含まれているか、当サービスのフォームではありません。何も変更されておらず、お金は動いていません。戻ってもう一度送信してください。',
    foreignForm: 'このフォームは別のサイトから送られました',
    foreignFormRest: 'リンクをもう一度開き、そこのフォームをお使いください。お金は動いていません。',
    tooMany: '試行回数が多すぎます',
    tooManyRest: '1 分待ってから続けてください。すでに送った支払いは自動的に見つかります。',
    slowDown: 'ページを開く回数が多すぎます',
    slowDownRest: '10 秒待ってから、このページを再読み込みしてください。すでに送った支払いは自動的に見つかります。',
  },
  /** A payment that was given back, for merchants and for their partner. */
  refunded: {
    badges: {
      returning: '返金予定',
      sent: '返金中',
      confirmed: '返金済み',
      other: '返金済み',
      failed: '未返金',
      missing: '未返金',
    },
    seenRest: '{amount} USDC を {address} へ。ネットワークが承認すると完了です。',
    confirmedRest: '{amount} USDC を {address} へ。ネットワークで承認済みです。',
  },
};
