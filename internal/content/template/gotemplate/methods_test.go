package gotemplate

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"text/template"

	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/content/template/gotemplate/methodtest"
)

// withMethods are the types with methods that a template gets all the same. Nothing but the process
// that they run in bounds these.
var withMethods = methodtest.List{
	"json.Number":    "numbers beyond 64 bits; its methods take nothing and return what it holds",
	"operand.File":   "content of a file prints as text",
	"time.Time":      "now, toDate and date_modify of sprig: templates call .Format, .Unix and .Year",
	"time.Location":  "the zone of a time",
	"time.Month":     "a part of a time",
	"time.Weekday":   "a part of a time",
	"time.Duration":  "the time between two times",
	"semver.Version": "semver of sprig: templates call .Major, .Minor and .Compare",
}

// calls is one call of each function that succeeds, by the first word.
const calls = `
abbrev 5 "abcdefgh"
abbrevboth 5 10 "abcdefghijklmnopq"
add 1 2
add1 1
add1f 1.5
addf 1.5 2
adler32sum "a"
ago now
all 1 "a"
any 0 "a"
append (list 1) now
atoi "1"
b32dec "ME======"
b32enc "a"
b64dec "YQ=="
b64enc "a"
base "a/b"
bcrypt "a"
biggest 1 2
buildCustomCert (b64enc $ca.Cert) (b64enc $key)
camelcase "a_b"
cat "a" 1
ceil 1.5
chunk 1 (list 1 2)
clean "a/../b"
coalesce nil now
compact (list "" 1)
concat (list 1) (list 2)
contains "a" "ab"
date "2006" now
dateInZone "2006" now "UTC"
dateModify "1h" now
date_in_zone "2006" now "UTC"
date_modify "1h" now
decryptAES "password" (encryptAES "password" "text")
deepCopy (dict "a" (list 1))
deepEqual 1 1
default 1 nil
derivePassword 1 "long" "password" "user" "example.org"
dict "a" 1
dig "a" 1 (dict "a" 2)
dir "a/b"
div 4 2
divf 4.0 2
duration 90
durationRound "3h"
empty ""
encryptAES "password" "text"
eq 1 1
ext "a.b"
first (list 1)
float64 "1.5"
floor 1.5
fromJson "{\"a\": [1, 1.5, 123456789012345678901234567890, null, true]}"
fromJsonArray "[1, 1.5]"
fromToml "a = 2024-01-02T03:04:05Z\nb = 2024-01-02\nc = 03:04:05\nd = [1, 1.5, \"a\"]"
fromYaml "a: [1, 1.5, 123456789012345678901234567890, null, true, 2024-01-02]"
fromYamlArray "[1, 2024-01-02T03:04:05Z]"
ge 1 1
genCA "a" 1
genCAWithKey "a" 1 $key
genPrivateKey "ecdsa"
genSelfSignedCert "a" nil nil 1
genSelfSignedCertWithKey "a" nil nil 1 $key
genSignedCert "a" nil nil 1 $ca
genSignedCertWithKey "a" nil nil 1 $ca $key
get (dict "a" 1) "a"
getHostByName "localhost"
given
gt 2 1
has 1 (list 1)
hasKey (dict "a" 1) "a"
hasPrefix "a" "ab"
hasSuffix "b" "ab"
hello
html "<"
htmlDate now
htmlDateInZone now "UTC"
htpasswd "user" "password"
include NAMED .
indent 1 "a"
index (list 1) 0
initial (list 1 2)
initials "A B"
int "1"
int64 "1"
isAbs "/a"
join "," (list 1)
js "<"
kebabcase "aB"
keys (dict "a" 1)
kindIs "int" 1
kindOf 1
last (list 1)
le 1 1
len "a"
list 1
lookup "v1" "Secret" "a" "b"
lower "A"
lt 1 2
max 1 2
maxf 1.5 2
merge (dict "a" 1) (dict "b" 2)
mergeOverwrite (dict "a" 1) (dict "a" 2)
min 1 2
minf 1.5 2
mod 4 2
mul 4 2
mulf 1.5 2
mustAppend (list 1) 2
mustChunk 1 (list 1)
mustCompact (list "")
mustDateModify "1h" now
mustDeepCopy (dict "a" 1)
mustFirst (list 1)
mustFromJson "{\"a\": 1}"
mustHas 1 (list 1)
mustInitial (list 1)
mustLast (list 1)
mustMerge (dict "a" 1) (dict "b" 2)
mustMergeOverwrite (dict "a" 1) (dict "a" 2)
mustPrepend (list 1) 2
mustPush (list 1) 2
mustRegexFind "a" "a"
mustRegexFindAll "a" "a" -1
mustRegexMatch "a" "a"
mustRegexReplaceAll "a" "a" "b"
mustRegexReplaceAllLiteral "a" "a" "b"
mustRegexSplit "a" "bab" -1
mustRest (list 1)
mustReverse (list 1)
mustSlice (list 1 2) 1
mustToDate "2006" "2024"
mustToJson (list 1)
mustToPrettyJson (list 1)
mustToRawJson (list 1)
mustToToml (dict "a" 1)
mustToYaml (list 1)
mustUniq (list 1)
mustWithout (list 1) 1
must_date_modify "1h" now
ne 1 2
nindent 1 "a"
nospace "a b"
now
omit (dict "a" 1) "a"
osBase "a/b"
osClean "a"
osDir "a/b"
osExt "a.b"
osIsAbs "/a"
pick (dict "a" 1) "a"
pluck "a" (dict "a" 1)
plural "one" "many" 2
prepend (list 1) 2
print 1
printf "%d" 1
println 1
push (list 1) 2
quote 1
randAlpha 1
randAlphaNum 1
randAscii 1
randBytes 1
randInt 1 2
randNumeric 1
readDir "."
readFile "a"
regexFind "a" "a"
regexFindAll "a" "a" -1
regexMatch "a" "a"
regexQuoteMeta "."
regexReplaceAll "a" "a" "b"
regexReplaceAllLiteral "a" "a" "b"
regexSplit "a" "bab" -1
repeat 2 "a"
replace "a" "b" "a"
required "a" 1
rest (list 1 2)
reverse (list 1 2)
round 1.55 1
semver "1.2.3-a+b"
semverCompare "^1" "1.2.3"
seq 1 2
set (dict) "a" 1
sha1sum "a"
sha256sum "a"
sha512sum "a"
shuffle "a"
slice (list 1 2) 1
snakecase "aB"
sortAlpha (list "b" "a")
split "," "a,b"
splitList "," "a,b"
splitn "," 2 "a,b"
squote 1
sub 2 1
subf 2.5 1
substr 0 1 "ab"
swapcase "a"
ternary 1 2 true
title "a"
toDate "2006" "2024"
toDecimal "0777"
toJson (list 1)
toPrettyJson (list 1)
toRawJson (list 1)
toString 1
toStrings (list 1)
toToml (dict "a" 1)
toYaml (list 1)
toYamlPretty (list 1)
tpl "{{ . }}" 1
trim " a "
trimAll "a" "aba"
trimPrefix "a" "ab"
trimSuffix "b" "ab"
trimall "a" "aba"
trunc 1 "ab"
tuple 1
typeIs "int" 1
typeIsLike "int" 1
typeOf 1
uniq (list 1 1)
unixEpoch now
unset (dict "a" 1) "a"
until 2
untilStep 0 2 1
untitle "A"
upper "a"
urlJoin (dict "host" "a" "scheme" "https")
urlParse "https://user@a/b"
urlquery "a b"
uuidv4
values (dict "a" 1)
without (list 1) 1
wrap 1 "a b"
wrapWith 1 "," "a b"
`

// failing are functions that never return.
var failing = []string{"fail"}

// TestNoMethods calls each function, of templates and of charts, and finds no methods in what they
// return but the listed ones. A new function without a call here fails the test.
func TestNoMethods(t *testing.T) {
	config := Config{
		Files: fstest.MapFS{"a": {Data: []byte("text")}},
		Functions: map[string]Function{"given": func(context.Context, []any) (any, error) {
			return map[string]any{"a": []any{int64(1), 1.5, true, nil, "text", json.Number("123456789012345678901234567890")}}, nil
		}},
	}
	for of, functions := range map[string]func(*renderer) template.FuncMap{"templates": (*renderer).allFunctions, "charts": charts} {
		t.Run(of, func(t *testing.T) {
			r, cancel := config.renderer(t.Context(), nil)
			defer cancel()
			r.out = &output{renderer: r}
			known := functions(r)
			r.functions = known
			var got any
			keep := template.FuncMap{"keep": func(value any) string { got = value; return "" }}
			run := func(call string) any {
				parsed, err := template.New("call").Funcs(known).Funcs(keep).Parse(prelude + "{{ keep (" + strings.ReplaceAll(call, "NAMED", named[of]) + ") }}")
				if err == nil {
					got = nil
					err = parsed.Execute(&strings.Builder{}, map[string]any{"a": 1})
				}
				if err != nil {
					t.Errorf("%s: %v", call, err)
				}
				return got
			}
			called := map[string]bool{}
			for line := range strings.Lines(calls) {
				name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
				if known[name] == nil {
					continue
				}
				called[name] = true
				withMethods.Check(t, name, run(strings.TrimSpace(line)))
			}
			for _, name := range slices.Sorted(maps.Keys(known)) {
				if !called[name] && !slices.Contains(failing, name) {
					t.Errorf("the test does not call %s: add a call, to see what it returns", name)
				}
			}
		})
	}
}

// prelude makes a key and certificates once for the calls that need them.
const prelude = "{{ $key := genPrivateKey `ecdsa` }}{{ $ca := genCAWithKey `ca` 1 $key }}"

// named is what "include" finds.
var named = map[string]string{"templates": `"a"`, "charts": `"named"`}

// charts are the functions of a chart which defines a template.
func charts(r *renderer) template.FuncMap {
	r.set = template.Must(template.New("chart").Parse(`{{ define "named" }}text{{ end }}`))
	functions := r.chartFunctions()
	r.set.Funcs(functions)
	return functions
}

// TestBindingsHaveNoMethods: what a template gets of documents has no methods but the listed ones.
func TestBindingsHaveNoMethods(t *testing.T) {
	for _, text := range []string{
		"a: {b: [1, -1, 1.5, 1e300, 123456789012345678901234567890, true, null, text, ~]}",
		"{a: 2024-01-02, b: 2024-01-02T03:04:05Z, c: 0o17, e: !!binary aGVsbG8=, 1: 2, true: x}",
	} {
		value, err := jsonvalue.FromYAML([]byte(text))
		bindings, isMap := value.(map[string]any)
		if err != nil || !isMap {
			t.Fatalf("%s: %v", text, err)
		}
		withMethods.Check(t, text, Local(bindings))
	}
}
