/** Texts in many languages, and an encoder for the encodings that they used to be written in. */

export interface Sample {
  readonly language: string;
  readonly text: string;
  /** Labels of `TextDecoder`. */
  readonly encodings: readonly string[];
}

const cyrillic = ['windows-1251', 'koi8-r', 'iso-8859-5'];
const central = ['windows-1250', 'iso-8859-2'];

/** Two or three sentences each. */
export const samples: readonly Sample[] = [
  {
    language: 'Russian',
    text: 'Шлюз открывается утром, и первые лодки выходят на большую воду. Смотритель записывает каждое судно в толстую книгу, а вечером считает, сколько воды ушло.',
    encodings: cyrillic,
  },
  {
    language: 'Ukrainian',
    text: 'Вранці шлюз відчиняється, і перші човни виходять на велику воду. Доглядач записує кожне судно до товстої книги, а ввечері рахує, скільки води витекло.',
    encodings: ['windows-1251', 'koi8-u'],
  },
  {
    language: 'Bulgarian',
    text: 'Сутрин шлюзът се отваря и първите лодки излизат в голямата вода. Пазачът записва всеки кораб в дебела книга, а вечер пресмята колко вода е изтекла.',
    encodings: ['windows-1251'],
  },
  {
    language: 'Greek',
    text: 'Το πρωί η δεξαμενή ανοίγει και οι πρώτες βάρκες βγαίνουν στο ανοιχτό νερό. Ο φύλακας γράφει κάθε πλοίο σε ένα χοντρό βιβλίο και το βράδυ μετράει πόσο νερό έφυγε.',
    encodings: ['windows-1253', 'iso-8859-7'],
  },
  {
    language: 'Turkish',
    text: 'Sabah kapaklar açılır ve ilk tekneler büyük suya çıkar. Bekçi her gemiyi kalın bir deftere yazar, akşam da ne kadar suyun gittiğini hesaplar. Işık sönünce göl sessizliğe gömülür.',
    encodings: ['windows-1254'],
  },
  {
    language: 'Hebrew',
    text: 'בבוקר נפתח השער והסירות הראשונות יוצאות אל המים הגדולים. השומר רושם כל אנייה בספר עבה, ובערב הוא מחשב כמה מים זרמו החוצה.',
    encodings: ['windows-1255'],
  },
  {
    language: 'Arabic',
    text: 'في الصباح تفتح البوابة وتخرج القوارب الأولى إلى المياه الواسعة. يكتب الحارس اسم كل سفينة في كتاب سميك، وفي المساء يحسب كمية المياه التي خرجت.',
    encodings: ['windows-1256'],
  },
  {
    language: 'Thai',
    text: 'ในตอนเช้าประตูน้ำเปิดออก และเรือลำแรกก็แล่นออกไปสู่น้ำกว้าง คนเฝ้าประตูจดชื่อเรือทุกลำลงในสมุดเล่มหนา และตอนเย็นเขาคำนวณว่าน้ำไหลออกไปเท่าไร',
    encodings: ['windows-874'],
  },
  {
    language: 'Polish',
    text: 'Rano śluza się otwiera i pierwsze łodzie wypływają na szeroką wodę. Strażnik zapisuje każdą łódź w grubej księdze, a wieczorem liczy, ile wody odpłynęło. Później gaśnie światło i cichnie źródło.',
    encodings: central,
  },
  {
    language: 'Czech',
    text: 'Ráno se zdymadlo otevře a první lodě vyplouvají na širokou vodu. Hlídač zapisuje každou loď do tlusté knihy a večer počítá, kolik vody odteklo. Potom zhasne světlo a řeka ztichne.',
    encodings: central,
  },
  {
    language: 'Hungarian',
    text: 'Reggel kinyílik a zsilip, és az első hajók kifutnak a nagy vízre. Az őr minden hajót beír egy vastag könyvbe, este pedig kiszámolja, mennyi víz folyt el. Később elalszik a fény, és a tó elcsöndesedik.',
    encodings: central,
  },
  {
    language: 'French',
    text: 'Le matin, l’écluse s’ouvre et les premiers bateaux gagnent l’eau libre. Le gardien note chaque navire dans un épais cahier ; le soir, il calcule combien d’eau s’est écoulée. Après, la lumière s’éteint.',
    encodings: ['windows-1252'],
  },
  {
    language: 'German',
    text: 'Am Morgen öffnet sich die Schleuse, und die ersten Boote fahren aufs große Wasser hinaus. Der Wärter schreibt jedes Schiff in ein dickes Buch; abends zählt er, wie viel Wasser abgeflossen ist. Später erlöschen die Lichter – dann wird es still über dem Fluss.',
    encodings: ['windows-1252'],
  },
  {
    language: 'Spanish',
    text: 'Por la mañana se abre la esclusa y las primeras barcas salen al agua grande. El guardián anota cada navío en un libro grueso y por la noche calcula cuánta agua salió. ¿Quién apagó la luz? Nadie lo sabrá jamás; el señor duerme.',
    encodings: ['windows-1252'],
  },
  {
    language: 'Swedish',
    text: 'På morgonen öppnas slussen och de första båtarna går ut på det stora vattnet. Vakten skriver upp varje fartyg i en tjock bok, och på kvällen räknar han ut hur mycket vatten som har runnit bort.',
    encodings: ['windows-1252'],
  },
  {
    language: 'Lithuanian',
    text: 'Rytą šliuzas atsidaro ir pirmosios valtys išplaukia į platų vandenį. Sargas kiekvieną laivą įrašo į storą knygą, o vakare skaičiuoja, kiek vandens ištekėjo. Vėliau užgęsta šviesa ir upė nutyla.',
    encodings: ['windows-1257'],
  },
  {
    language: 'Japanese',
    text: '朝になると水門が開き、最初の舟が広い水面へ出ていきます。番人はすべての船を厚い帳面に書きとめ、夕方にはどれだけの水が流れたかを計算します。',
    encodings: ['shift_jis', 'euc-jp', 'iso-2022-jp'],
  },
  {
    language: 'Japanese in syllables',
    text: 'ツールバーのラベルとアイコンをまとめてスクロールするかどうか',
    encodings: ['shift_jis', 'euc-jp'],
  },
  {
    language: 'Chinese, simplified',
    text: '早晨水闸打开，第一批小船驶向宽阔的水面。看守人把每一艘船记在厚厚的本子里，晚上再计算流走了多少水。灯光熄灭以后，河面就安静下来。',
    encodings: ['gbk', 'gb18030'],
  },
  {
    language: 'Chinese, traditional',
    text: '早晨水閘打開，第一批小船駛向寬闊的水面。看守人把每一艘船記在厚厚的本子裡，晚上再計算流走了多少水。燈光熄滅以後，河面就安靜下來。',
    encodings: ['big5'],
  },
  {
    language: 'Korean',
    text: '아침이 되면 수문이 열리고 첫 번째 배들이 넓은 물로 나아간다. 관리인은 모든 배를 두꺼운 책에 적고, 저녁에는 물이 얼마나 흘러갔는지 계산한다.',
    encodings: ['euc-kr'],
  },
];

/** Node's decoder, read backwards: it has no encoder for anything but UTF-8. */
export const encodeAs = (label: string, text: string): Buffer => {
  if (label === 'iso-2022-jp') return escaped(text);
  const codes = codesOf(label);
  return Buffer.concat(
    [...text].map((character) => {
      const bytes = character < '\x80' ? Buffer.from(character) : codes.get(character);
      if (bytes === undefined) throw new Error(`${label} has no ${character}`);
      return bytes;
    }),
  );
};

const tables = new Map<string, ReadonlyMap<string, Buffer>>();

const codesOf = (label: string): ReadonlyMap<string, Buffer> => {
  const known = tables.get(label);
  if (known !== undefined) return known;
  const codes = new Map<string, Buffer>();
  const decoder = new TextDecoder(label, { fatal: true });
  const add = (...bytes: readonly number[]): void => {
    try {
      const character = decoder.decode(Uint8Array.from(bytes));
      if ([...character].length === 1 && !codes.has(character)) codes.set(character, Buffer.from(bytes));
    } catch {
      // Not a character of this encoding.
    }
  };
  for (let byte = 0x80; byte <= 0xff; byte++) add(byte);
  // Where Node takes windows-1252 for Latin-1, its quotation marks are not in the table.
  if (label === 'windows-1252')
    for (const [character, byte] of [
      ['’', 0x92],
      ['–', 0x96],
    ] as const)
      codes.set(character, Buffer.from([byte]));
  if (!label.startsWith('windows') && !label.startsWith('iso') && !label.startsWith('koi8'))
    for (let first = 0x81; first <= 0xfe; first++)
      for (let second = 0x40; second <= 0xfe; second++) add(first, second);
  tables.set(label, codes);
  return codes;
};

/** The same codes as EUC-JP, with the upper bits off, between escape sequences. */
const escaped = (text: string): Buffer =>
  Buffer.concat([
    Buffer.from('\x1b$B'),
    Buffer.from(encodeAs('euc-jp', text).map((byte) => byte & 0x7f)),
    Buffer.from('\x1b(B'),
  ]);
