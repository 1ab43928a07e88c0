package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestDraw(t *testing.T) {
	picture := draw([]line{{"$ " + strings.Repeat("word ", 40), true}, {"[Failed] <a> & b", false}, {}, {"? unknown", false}})
	decoder := xml.NewDecoder(strings.NewReader(picture))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{` \</text>`, `class="bad"`, "&lt;a&gt; &amp; b", `class="busy"`} {
		if !strings.Contains(picture, want) {
			t.Errorf("%s is missing in %s", want, picture)
		}
	}
}
