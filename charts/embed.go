// Package charts holds the chart of Landscaper for programs that install it.
package charts

import "embed"

// Landscaper are the files of the chart, below the folder landscaper.
//
//go:embed all:landscaper
var Landscaper embed.FS
