import type { MailTexts } from '../mails.ts';

export const ja: MailTexts<'ja'> = {
  code: {
    subject: '{code} が確認コードです',
    body: '確認コード：\n\n{code}\n\n15 分間有効です。{partner} から、ステーブルコインでの受け取りに招待されています。開いているページにこのコードを入力してください。\n\n依頼していない場合は、何もしないでください。コードがなければ誰も先に進めません。',
  },
  signIn: 'サインイン',
  wallet: {
    unnamed: '加盟店',
    about: '加盟店：{merchant}\n加盟店番号：{account}\n招待元：{partner}',
    stop: 'リカバリーを停止',
    changed: {
      subject: '{merchant}：ウォレットが変更されました',
      body: '新しい請求は、今後このウォレットに支払われます：\n\n{newWallet}\n\nこれまでのウォレット：\n\n{oldWallet}\n\n両方のウォレットがこの変更に署名しました。変更前の請求は、引き続き以前のウォレットに支払われます。',
    },
    recovery_started: {
      subject: '{merchant}：ウォレットのリカバリーが開始されました',
      body: '次のウォレットを失くしたとの申し出があり、リカバリーが開始されました：\n\n{oldWallet}\n\nまだ何も変わっていません。先に新しいウォレットでの署名が必要で、その後 48 時間が経過するまで切り替わりません。\n\nウォレットを失くしていない場合は、そのウォレットで署名してリカバリーを停止してください：\n\n{link}',
    },
    recovery_signed: {
      subject: '{merchant}：48 時間後に受け取り先が別のウォレットに移ります',
      body: '{time} に、新しい請求の受け取り先がこのウォレットに移ります：\n\n{newWallet}\n\nそれまではこのウォレットに支払われます：\n\n{oldWallet}\n\n誤りであれば、それまでに現在のウォレットで署名して停止してください：\n\n{link}',
    },
    recovered: {
      subject: '{merchant}：ウォレットのリカバリーが完了しました',
      body: '新しい請求は、今後このウォレットに支払われます：\n\n{newWallet}\n\nこれまでのウォレットからは、48 時間以内に異議がありませんでした：\n\n{oldWallet}\n\n以前の請求は、引き続き以前のウォレットに支払われます。',
    },
    displaced: {
      subject: '{merchant}：ウォレットに別の人が署名しました',
      body: 'このウォレットは加盟店の作成時に指定されましたが、一度も署名されませんでした：\n\n{oldWallet}\n\nこのたび別の人が署名したため、その人のものになりました。加盟店にはウォレットがありません。別のウォレットで登録を完了できます。支払いに影響はありません。',
    },
    recovery_stopped: {
      subject: '{merchant}：ウォレットのリカバリーが停止されました',
      body: '何も変わりません。支払いは引き続きこのウォレットに届きます：\n\n{oldWallet}\n\n{reason}',
    },
    stoppedBy: {
      merchant: '現在のウォレットがリカバリーを停止しました。',
      partner: 'リカバリーを開始した側が取り消しました。',
      time: 'リカバリーのリンクが有効な間に、新しいウォレットでの署名がありませんでした。',
    },
  },
  endpoint: {
    testSubject: 'テストモードの Webhook が無効になりました',
    liveSubject: '本番モードの Webhook が無効になりました',
    body: '次のアドレスへのイベントの送信を止めました：\n\n{url}\n\n{reason}\n\n支払いに影響はなく、失われたイベントもありません。新しいイベントは待機します。受信側を直してから、Webhook をもう一度有効にするか、URL を設定し直してください。待機中のイベントはすぐに送られます。それまでに試行を使い切ったイベントは、再送できます。\n\n{link}',
    gone: '410 が返されました。そこにはもう何もないという意味です。',
    failing: '120 時間、一度も成功しませんでした。',
    open: 'Webhook のページを開く',
  },
};
