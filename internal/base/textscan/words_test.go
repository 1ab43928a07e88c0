package textscan

import "testing"

func TestHas(t *testing.T) {
	for _, test := range []struct {
		reason, text, word string
		want               bool
	}{
		{"the whole text", "region", "region", true},
		{"between signs", "(( imports.region ))", "region", true},
		{"at the end", "a region", "region", true},
		{"the beginning of a longer word", "regions", "region", false},
		{"the end of a longer word", "subregion", "region", false},
		{"a digit continues a word", "region2", "region", false},
		{"an underscore continues a word", "my_region", "region", false},
		{"a letter of another alphabet continues a word", "regionä", "region", false},
		{"a part first, the word later", "regions, region", "region", true},
		{"what overlaps with itself", "a.a.a", "a.a", true},
		{"bytes that are not UTF-8 end a word", "\xffregion\xff", "region", true},
		{"nothing is no word", "region", "", false},
		{"nothing has no word", "", "region", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := HasWord(test.text, test.word); got != test.want {
				t.Errorf("%q has %q: %v", test.text, test.word, got)
			}
		})
	}
}
