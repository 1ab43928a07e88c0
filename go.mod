module go.landscaper.dev

go 1.26.0
