package cases

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

type suites struct {
	XMLName xml.Name `xml:"testsuites"`
	Suites  []*suite `xml:"testsuite"`
}

type suite struct {
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Time     string     `xml:"time,attr"`
	Cases    []testcase `xml:"testcase"`
	seconds  float64
}

type testcase struct {
	Name    string   `xml:"name,attr"`
	Class   string   `xml:"classname,attr"`
	Time    string   `xml:"time,attr"`
	Failure *failure `xml:"failure,omitempty"`
}

type failure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes outcomes in the form that forges show.
func WriteJUnit(to io.Writer, outcomes []Outcome) error {
	all := suites{}
	byFile := map[string]*suite{}
	for _, outcome := range outcomes {
		in := byFile[outcome.File]
		if in == nil {
			in = &suite{Name: outcome.File}
			byFile[outcome.File] = in
			all.Suites = append(all.Suites, in)
		}
		seconds := outcome.Duration.Seconds()
		one := testcase{Name: outcome.Case, Class: outcome.File, Time: fmt.Sprintf("%.3f", seconds)}
		if len(outcome.Failures) > 0 {
			in.Failures++
			one.Failure = &failure{Message: outcome.Failures[0], Text: strings.Join(outcome.Failures, "\n")}
		}
		in.Tests++
		in.seconds += seconds
		in.Time = fmt.Sprintf("%.3f", in.seconds)
		in.Cases = append(in.Cases, one)
	}
	if _, err := io.WriteString(to, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(to)
	encoder.Indent("", "  ")
	return encoder.Encode(all)
}
