module github.com/gaitnet/gait

go 1.26

require (
	github.com/go-gl/mathgl v1.2.0 // indirect
	github.com/mlange-42/arche v0.15.3 // indirect
	github.com/mlange-42/arche-model v0.10.0 // indirect
	github.com/stretchr/testify v1.12.1 // indirect
	go.uber.org/goleak v1.3.0 // indirect
	pgregory.net/rapid v1.3.0 // indirect
)
