package answerlimit

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// scanned reads a text in pieces of a size, and returns how many documents ended and what
// the one costs that has begun.
func scanned(text string, size int) (ended int, bytes, cost int64) {
	s := &Scanner{}
	for rest := []byte(text); len(rest) > 0; {
		piece := rest[:min(size, len(rest))]
		for len(piece) > 0 {
			read, end := s.Scan(piece)
			piece, rest = piece[read:], rest[read:]
			if end {
				ended++
				bytes, cost = s.Bytes, s.Cost
				s.Reset()
			}
		}
	}
	if s.Bytes > 0 {
		bytes, cost = s.Bytes, s.Cost
	}
	return ended, bytes, cost
}

// TestScanFindsTheEnd: a watch is cut into its events, so an end that is missed adds up
// all of them, and one too many lets a large one pass in parts.
func TestScanFindsTheEnd(t *testing.T) {
	tests := []struct {
		reason, text string
		ended        int
	}{
		{"nothing was read", "", 0},
		{"an object", `{"a":1}`, 1},
		{"a list", `[1,2]`, 1},
		{"an object that has only begun", `{"a":{"b":1}`, 0},
		{"events, as a watch has them", "{\"a\":1}\n{\"a\":2}\n", 2},
		{"events without anything between them", "{}{}{}", 3},
		{"braces in a text end nothing", `{"a":"}}}]]]","b":1}`, 1},
		{"braces in a key end nothing", `{"}":1}`, 1},
		{"a quote in a text does not end it", `{"a":"\"}\"","b":1}`, 1},
		{"a backslash in a text hides only the next sign", `{"a":"\\"}{"a":1}`, 2},
		{"a backslash outside of a text hides nothing", `\{}`, 1},
		{"a backslash at the very end of a text", `{"a":"\`, 0},
		{"a text without an end holds everything behind it", `{"a":"}{}{}{}`, 0},
		{"signs of several bytes", `{"ü":"}漢"}`, 1},
		{"control characters", "{\"a\":\"\x00\x1f}\"}", 1},
		{"bytes that are not text", "{\"a\":\"\xff\xfe\"}", 1},
		{"a null", "null", 0},
		{"numbers in a row, which no API server sends", "1 2 3 4", 0},
		{"more ends than beginnings: each counts, so that the pace holds them", "}}}", 3},
		{"the depth does not go below the ground", `}}}{"a":{}}`, 4},
		{"ends of the other sort", `{"a":[1}]`, 1},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			ended, bytes, cost := scanned(test.text, len(test.text)+1)
			if ended != test.ended {
				t.Errorf("%d documents ended, want %d", ended, test.ended)
			}
			for size := 1; size < len(test.text); size++ {
				if e, b, c := scanned(test.text, size); e != ended || b != bytes || c != cost {
					t.Errorf("in pieces of %d bytes: %d ended, %d bytes, cost %d; in one piece %d, %d, %d", size, e, b, c, ended, bytes, cost)
				}
			}
		})
	}
}

// TestScanStopsBehindADocument: the next one is not booked on this one.
func TestScanStopsBehindADocument(t *testing.T) {
	s := &Scanner{}
	const first, second = `{"a":"b"}`, "\n" + `{"c":[1]}`
	read, ended := s.Scan([]byte(first + second))
	if read != len(first) || !ended || s.Bytes != int64(len(first)) {
		t.Fatalf("read %d of %d, ended %v, %d bytes", read, len(first), ended, s.Bytes)
	}
	s.Reset()
	if read, ended = s.Scan([]byte(second)); read != len(second) || !ended || s.Bytes != int64(len(second)) {
		t.Errorf("the second one: read %d, ended %v, %d bytes", read, ended, s.Bytes)
	}
}

// TestScanCost holds the estimate against what attacks are made of: few bytes that become
// many in memory.
func TestScanCost(t *testing.T) {
	const mib = 1 << 20
	tests := []struct {
		reason, text string
		least        int64
	}{
		{"a long text costs its length", `{"a":"` + strings.Repeat("x", mib) + `"}`, mib},
		{"empty lists are headers in memory", "[" + strings.Repeat("[],", mib/3) + "1]", 40 * mib},
		{"empty objects of a list become structs", `{"items":[` + strings.Repeat("{},", mib/3) + "1]}", 150 * mib},
		{"numbers are boxed", "[" + strings.Repeat("1,", mib/2) + "1]", 30 * mib},
		{"keys are places in a map", "{" + strings.Repeat(`"":1,`, mib/5) + `"a":1}`, 25 * mib},
		{"levels", strings.Repeat("[", mib), 64 * mib},
		{"spaces are only read", strings.Repeat(" ", mib), mib},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if _, _, cost := scanned(test.text, len(test.text)); cost < test.least {
				t.Errorf("costs %d KiB, want at least %d KiB", cost>>10, test.least>>10)
			}
		})
	}
}

// TestScanDoesNotScareAnyone: usual objects cost little, so that usual lists fit.
func TestScanDoesNotScareAnyone(t *testing.T) {
	configMap := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "a", "namespace": "b", "labels": map[string]any{"app": "web", "team": "x"}},
		"data":     map[string]any{"settings": strings.Repeat("key: value\n", 100)},
	}
	items := make([]any, 500)
	for i := range items {
		items[i] = configMap
	}
	page, err := json.Marshal(map[string]any{"kind": "ConfigMapList", "items": items})
	if err != nil {
		t.Fatal(err)
	}
	if _, bytes, cost := scanned(string(page), len(page)); bytes > MaxAnswer || cost > MaxAnswerCost/8 {
		t.Errorf("a page of %d objects has %d KiB and costs %d KiB", len(items), bytes>>10, cost>>10)
	}
	one, err := json.Marshal(configMap)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, cost := scanned(string(one), len(one)); cost > free/64 {
		t.Errorf("one object costs %d bytes of the free %d", cost, free)
	}
}

// TestScanOuterObjects: only the outer levels are structs with many fields.
func TestScanOuterObjects(t *testing.T) {
	_, _, before := scanned("", 1)
	for depth := 1; depth <= outerDepth+2; depth++ {
		t.Run(fmt.Sprintf("level %d", depth), func(t *testing.T) {
			_, _, cost := scanned(strings.Repeat("{", depth), 1)
			grown := cost - before
			before = cost
			want := int64(1 + valueCost)
			if depth <= outerDepth {
				want += outerCost
			}
			if grown != want {
				t.Errorf("costs %d, want %d", grown, want)
			}
		})
	}
}
