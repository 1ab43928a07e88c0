package syntax

import (
	"strconv"
	"strings"
)

// number reads an IP address, integer or float at the current position. It
// returns nil and does not move if a digit only starts a name.
func (p *parser) number() Expr {
	if end := ipEnd(p.src, p.pos); end > p.pos {
		text := p.src[p.pos:end]
		p.pos = end
		return Text{Value: text, Bare: true}
	}
	end, float := numberEnd(p.src, p.pos)
	if end == p.pos || end < len(p.src) && isName(p.src[end]) {
		return nil
	}
	text := strings.ReplaceAll(p.src[p.pos:end], "_", "")
	start := p.pos
	p.pos = end
	if !float {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			p.fail(start, "integer does not fit into 64 bit")
		}
		return Int{n}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		p.fail(start, "number is out of range")
	}
	return Float{f}
}

func digits(src string, pos int) int {
	for pos < len(src) && (isDigit(src[pos]) || src[pos] == '_') {
		pos++
	}
	return pos
}

func numberEnd(src string, pos int) (end int, float bool) {
	i := pos
	if i < len(src) && src[i] == '-' {
		i++
	}
	if i >= len(src) || !isDigit(src[i]) {
		return pos, false
	}
	i = digits(src, i)
	if i+1 < len(src) && src[i] == '.' && isDigit(src[i+1]) {
		float = true
		i = digits(src, i+1)
	}
	if i < len(src) && (src[i] == 'e' || src[i] == 'E') {
		j := i + 1
		if j < len(src) && src[j] == '-' {
			j++
		}
		if j < len(src) && isDigit(src[j]) {
			return digits(src, j), true
		}
	}
	return i, float
}

// ipEnd returns the end of four dotted digit groups, or pos.
func ipEnd(src string, pos int) int {
	i := pos
	for group := 0; group < 4; group++ {
		if group > 0 {
			if i >= len(src) || src[i] != '.' {
				return pos
			}
			i++
		}
		start := i
		for i < len(src) && isDigit(src[i]) {
			i++
		}
		if i == start {
			return pos
		}
	}
	if i < len(src) && (isName(src[i]) || src[i] == '.' && i+1 < len(src) && isName(src[i+1])) {
		return pos
	}
	return i
}

// FloatText writes a float so that it is read as one: with a fraction or an exponent, and
// that without the sign that the language does not know.
func FloatText(f float64) string {
	text := strings.Replace(strconv.FormatFloat(f, 'g', -1, 64), "e+", "e", 1)
	if strings.Trim(text, "-0123456789") == "" {
		text += ".0"
	}
	return text
}
